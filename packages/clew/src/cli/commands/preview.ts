import { preview } from '../../operations/preview.ts'
import { formatCount } from '../../format-count.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import { printable } from '../text.ts'

export const previewCommand: Command<InputOf<typeof preview>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    preview.run(ledger, { ...input, runId: await resolveRun(ledger, input.runId) }),
  )
  await terminal.answer(data, () => [
    `keeps ${formatCount(data.keptSteps)} steps of ${printable(data.runId)}, for nothing; ${formatCount(data.nextSteps)} steps followed there`,
    `live   ${effectsText(data.live)}`,
    `asks   ${effectsText(data.outward)}${data.outward.length > 0 ? ', unless the input is the same' : ''}`,
    ...(data.streamId === null ? [] : [`posts  its answer into ${printable(data.streamId)}`]),
    '',
    terminal.output.colour.dim(terminal.next(`clew fork ${shellWord(printable(data.runId))}`)),
  ])
  return EXIT.fine
}

const effectsText = (effects: readonly { readonly name: string; readonly count: number }[]): string =>
  effects.length === 0
    ? 'nothing'
    : effects.map(({ name, count }) => `${printable(name)}${count > 1 ? ` ×${count}` : ''}`).join(', ')
