import { policy } from '../../operations/policy.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { printable } from '../text.ts'

export const policyCommand: Command<InputOf<typeof policy>> = ({ input, terminal, withLedger }) =>
  withLedger(
    async (ledger) => {
      const data = await policy.run(ledger, input)
      const { green, dim } = terminal.output.colour
      const text = JSON.stringify(data.policy, null, 2).split('\n').map(printable)
      await terminal.answer(data, () => [
        ...(data.changed
          ? [
              `${green('✓')} Saved. Redaction applies it when a ledger is opened; clew gc applies it from now on.`,
              '',
            ]
          : []),
        ...(Object.keys(data.policy).length === 0
          ? ['This workspace has no policy; the defaults apply.']
          : text),
        '',
        dim(terminal.next('clew compliance')),
      ])
      return EXIT.fine
    },
    input.set === undefined ? {} : { readOnly: false },
  )
