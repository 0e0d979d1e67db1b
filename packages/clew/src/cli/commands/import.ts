import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { importEvents } from '../../operations/import.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress, type Progress } from '../progress.ts'
import { formatSize } from '../../format-size.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import { plural } from '../text.ts'

export const importCommand: Command<InputOf<typeof importEvents>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const file = text(flags['file']) ?? '-'
  const total = file === '-' ? undefined : (await stat(file)).size
  const source: AsyncIterable<Uint8Array> = file === '-' ? process.stdin : createReadStream(file)
  const progress = createProgress(terminal, 'importing', formatSize, total)
  keepMemorySteady()
  const report = await withLedger(async (ledger) => {
    try {
      return await importEvents.run(ledger, input, { body: counted(source, progress) })
    } finally {
      progress.end()
    }
  })
  const { green, dim } = terminal.output.colour
  await terminal.answer(report, () => [
    `${green('✓')} ${plural(report.events, 'event')} of ${plural(report.runs, 'run')} imported; those that were here already stayed as they are.`,
    '',
    dim(`${terminal.next('clew verify')} · ${terminal.next('clew runs')}`),
  ])
  return EXIT.fine
}

async function* counted(source: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    progress.update(bytes)
    yield chunk
  }
}
