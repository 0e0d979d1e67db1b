import { vaultRotate } from '../../operations/vault.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { plural } from '../text.ts'

export const vaultRotateCommand: Command<InputOf<typeof vaultRotate>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const report = await withLedger(
    async (ledger) => {
      const progress = createProgress(terminal, 'encrypting', (done) => plural(done, 'row'))
      try {
        return await vaultRotate.run(ledger, input, { onProgress: progress.update })
      } finally {
        progress.end()
      }
    },
    { readOnly: false, create: false },
  )
  const { green, dim } = terminal.output.colour
  await terminal.answer(report, () => [
    `${green('✓')} ${plural(report.rows, 'row')} encrypted again; the key is now ${report.keyId}.`,
    ...(report.unreadable > 0
      ? [`${plural(report.unreadable, 'row')} could not be decrypted and still have their old key.`]
      : []),
    '',
    dim(terminal.next('clew verify')),
  ])
  return EXIT.fine
}
