import { rebuild } from '../../operations/rebuild.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import { plural } from '../text.ts'

export const rebuildCommand: Command<InputOf<typeof rebuild>> = async ({ input, terminal, withLedger }) => {
  keepMemorySteady()
  const report = await withLedger(
    async (ledger) => {
      const { runs } = await ledger.stats()
      const progress = createProgress(terminal, 'rebuilding', (done) => plural(done, 'run'), runs)
      try {
        return await rebuild.run(ledger, input, { onProgress: progress.update })
      } finally {
        progress.end()
      }
    },
    { readOnly: false, create: false },
  )
  const { green, dim } = terminal.output.colour
  const kept =
    report.kept === 0 ? '' : ` ${plural(report.kept, 'run')} kept its rows, because part of it is erased.`
  await terminal.answer(report, () => [
    `${green('✓')} ${plural(report.runs, 'run')} checked, rows of ${plural(report.changed, 'run')} rebuilt.${kept}`,
    '',
    dim(terminal.next('clew verify --projections')),
  ])
  return EXIT.fine
}
