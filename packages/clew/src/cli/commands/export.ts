import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { ClewError, type Ledger } from '@clew/ledger'
import { exportEvents } from '../../operations/export.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { writeLines } from '../lines.ts'
import { createProgress } from '../progress.ts'
import { resolveRun } from '../resolve-run.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import type { Terminal } from '../terminal.ts'
import { escapeJson, plural, printable } from '../text.ts'

export const exportCommand: Command<InputOf<typeof exportEvents>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const file = text(flags['output'])
  if (file !== undefined && flags['force'] !== true && existsSync(file))
    throw new ClewError(
      'bad_option',
      `The file ${file} already exists`,
      'Name another, or replace it with --force.',
      {
        option: '--output',
      },
    )
  keepMemorySteady()
  // A fixture is shared, so secrets stored in clear are redacted too.
  const redact = input.redacted === true ? { policies: ['secrets', 'personal'] as const } : undefined
  return withLedger(async (ledger) => {
    const runId = input.runId === undefined ? undefined : await resolveRun(ledger, input.runId)
    const wanted = { ...input, runId }
    if (file === undefined) {
      await pour(ledger, wanted, terminal, terminal, terminal.output.isTerminal ? escapeJson : asItIs)
      return EXIT.fine
    }
    const events = await writeWhole(file, (sink) => pour(ledger, wanted, terminal, sink, asItIs))
    const { dim, green } = terminal.output.colour
    const next =
      input.redacted === true && runId !== undefined
        ? `clew replay --all ${printable(file)} --agent MODULE`
        : `clew import ${printable(file)} --store sqlite:copy.db`
    await terminal.answer({ file, events, runId: runId ?? null }, () => [
      `${green('✓')} ${plural(events, 'event')} written to ${printable(file)}`,
      '',
      dim(next),
    ])
    return EXIT.fine
  }, redact && { redact })
}

const asItIs = (line: string): string => line

async function pour(
  ledger: Ledger,
  wanted: InputOf<typeof exportEvents>,
  terminal: Terminal,
  sink: Pick<Terminal, 'write'>,
  format: (line: string) => string,
): Promise<number> {
  const total = wanted.runId === undefined ? (await ledger.stats()).events : undefined
  const progress = createProgress(terminal, 'exporting', (done) => plural(done, 'event'), total)
  try {
    const context = { onProgress: progress.update }
    return await writeLines(sink, exportEvents.run(ledger, wanted, context), format)
  } finally {
    progress.end()
  }
}

/** Written beside its place and moved there when whole, so that a broken export never looks like one. */
async function writeWhole(
  file: string,
  work: (sink: Pick<Terminal, 'write'>) => Promise<number>,
): Promise<number> {
  const part = `${file}.${process.pid}.part`
  const handle = await open(part, 'w').catch((error: Error) => {
    throw Object.assign(error, { path: file })
  })
  try {
    const count = await work({ write: (chunk) => handle.writeFile(chunk) })
    await handle.sync()
    await handle.close()
    await rename(part, file)
    return count
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(part, { force: true })
    throw error
  }
}
