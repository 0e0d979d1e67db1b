import { reindex } from '../../operations/reindex.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import { plural } from '../text.ts'

export const reindexCommand: Command<InputOf<typeof reindex>> = async ({ input, terminal, withLedger }) => {
  keepMemorySteady()
  const { report, events } = await withLedger(
    async (ledger) => {
      const total = await ledger.lastPosition()
      const progress = createProgress(terminal, 'indexing', () => '', total)
      try {
        const told = { onProgress: progress.update, signal: terminal.signal }
        const done = await reindex.run(ledger, input, told)
        return { report: done, events: (await ledger.stats()).events - done.lag }
      } finally {
        progress.end()
      }
    },
    { readOnly: false, create: false },
  )
  const { green, dim } = terminal.output.colour
  await terminal.answer(report, () => [
    `${green('✓')} The search index holds ${plural(Math.max(0, events), 'event')}${report.lag > 0 ? `, ${report.lag} were recorded in the meantime` : ''}.`,
    '',
    dim(terminal.next('clew search status:failed')),
  ])
  return EXIT.fine
}
