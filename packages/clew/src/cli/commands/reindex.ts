import { reindex } from '../../operations/reindex.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import { plural } from '../text.ts'

export const reindexCommand: Command<InputOf<typeof reindex>> = async ({ input, terminal, withLedger }) => {
  keepMemorySteady()
  const report = await withLedger(
    async (ledger) => {
      const total = await ledger.lastPosition()
      const progress = createProgress(terminal, 'indexing', (done) => plural(done, 'event'), total)
      try {
        return await reindex.run(ledger, input, { onProgress: progress.update, signal: terminal.signal })
      } finally {
        progress.end()
      }
    },
    { readOnly: false, create: false },
  )
  const { green, dim } = terminal.output.colour
  await terminal.answer(report, () => [
    `${green('✓')} The search index holds ${plural(report.position, 'event')}${report.lag > 0 ? `, ${report.lag} came meanwhile` : ''}.`,
    '',
    dim(terminal.next('clew search status:failed')),
  ])
  return EXIT.fine
}
