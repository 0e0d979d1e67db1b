import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ClewError, type Ledger } from '@clew/ledger'
import type { z } from 'zod'
import { formatCount } from '../../format-count.ts'
import { formatSize } from '../../format-size.ts'
import type { ImportFile } from '../../import/import-foreign.ts'
import { importEvents } from '../../operations/import.ts'
import type { Command, CommandContext, Flags, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { openLedger } from '../../open-ledger.ts'
import { createProgress, type Progress } from '../progress.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable, wrap } from '../text.ts'

type Report = z.output<typeof importEvents.output>

export const importCommand: Command<InputOf<typeof importEvents>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const names = filesOf(flags)
  if (input.format === 'langgraph-sqlite' || input.format === 'langgraph-postgres')
    return importDatabase({ input, flags, terminal, withLedger }, names)
  // All of them are looked at first: a name that does not exist should not show after an hour.
  const sizes = await Promise.all(names.map(sizeOf))
  const known = sizes.every((size) => size !== undefined)
  const total = known ? sizes.reduce((sum, size) => sum + size, 0) : undefined
  const progress = createProgress(terminal, 'importing', formatSize, total)
  let bytes = 0
  const files = names.map((name): ImportFile => {
    const open = (): AsyncIterable<Uint8Array> => (name === '-' ? process.stdin : createReadStream(name))
    async function* body(): AsyncGenerator<Uint8Array> {
      for await (const chunk of open()) {
        bytes += chunk.length
        progress.update(bytes)
        yield chunk
      }
    }
    return { name: name === '-' ? undefined : name, body: body() }
  })
  keepMemorySteady()
  const report = await withLedger(async (ledger) => {
    try {
      return await importEvents.run(ledger, input, { files })
    } finally {
      progress.end()
    }
  })
  await terminal.answer(report, () => lines(terminal, report, input.format))
  return report.refusedTotal === 0 ? EXIT.fine : EXIT.no
}

type ImportContext = Pick<
  CommandContext<InputOf<typeof importEvents>>,
  'input' | 'flags' | 'terminal' | 'withLedger'
>

/** The database of a LangGraph saver; the bar counts checkpoints. */
async function importDatabase(
  { input, terminal, withLedger }: ImportContext,
  names: readonly string[],
): Promise<number> {
  let progress: Progress | undefined
  const onProgress = (done: number, total?: number): void => {
    const label = input.dryRun === true ? 'reading' : 'importing'
    progress ??= createProgress(terminal, label, (count) => plural(count, 'checkpoint'), total)
    progress.update(done)
  }
  const files = names.map((name) => ({ name: name === '-' ? undefined : name, body: process.stdin }))
  const work = async (ledger: Ledger): Promise<Report> => {
    try {
      return await importEvents.run(ledger, input, { files, onProgress })
    } finally {
      progress?.end()
    }
  }
  const report = input.dryRun === true ? await onNothing(withLedger, work) : await withLedger(work)
  await terminal.answer(report, () => databaseLines(terminal, report))
  return report.refusedTotal === 0 ? EXIT.fine : EXIT.no
}

/** A ledger that does not exist is not made by a dry run: for it everything is new. */
async function onNothing<T>(
  withLedger: ImportContext['withLedger'],
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  try {
    return await withLedger(work, { readOnly: true, create: false })
  } catch (error) {
    if (!(error instanceof ClewError) || error.code !== 'store_missing') throw error
    const ledger = await openLedger('memory:')
    try {
      return await work(ledger)
    } finally {
      await ledger.close()
    }
  }
}

function databaseLines(
  { output, width, next }: Terminal,
  { threads = 0, checkpoints = 0, known = 0, runs, events, dryRun, refused, refusedTotal }: Report,
): string[] {
  const { green, red, dim } = output.colour
  const found = `${plural(checkpoints, 'checkpoint')} of ${plural(threads, 'thread')}`
  const there = known === 0 ? '' : `, ${formatCount(known)} of them here already`
  const result = [
    dryRun === true
      ? `${found} found${there}. Nothing was written.`
      : `${green('✓')} ${found} imported${there}: ${plural(events, 'event')} of ${plural(runs, 'run')}.`,
  ]
  if (refusedTotal > 0)
    result.push(`${red('✗')} ${plural(refusedTotal, 'thread')} refused:`, '', ...refusals(refused, width))
  const last = dryRun === true ? 'Leave out --dry-run to import them.' : next('clew runs')
  return [...result, '', dim(last)]
}

/** Undefined for the standard input. */
async function sizeOf(name: string): Promise<number | undefined> {
  if (name === '-') return undefined
  const info = await stat(name)
  if (!info.isDirectory()) return info.size
  const hint = `Name the files in it: ${name.replace(/\/$/, '')}/*.json.`
  throw new ClewError('bad_option', `${name} is a folder`, hint, { path: name })
}

/** A file that is named twice is read once. */
function filesOf(flags: Flags): string[] {
  const given = flags['files']
  const names = Array.isArray(given) ? (given as readonly string[]) : ['-']
  const byPath = new Map(names.map((name) => [name === '-' ? name : resolve(name), name]))
  return [...byPath.values()]
}

const LISTED = 10

const refusals = (refused: Report['refused'], width: number): string[] =>
  refused.slice(0, LISTED).flatMap(({ file, line, reason }) => {
    const place = printable(line === null ? file : `${file}:${line}`)
    return [`  ${place}`, ...wrap(printable(reason), width - 4).map((text) => `    ${text}`)]
  })

function lines(
  { output, width, next }: Terminal,
  { runs, events, passed, refused, refusedTotal }: Report,
  format: string,
): string[] {
  const { green, red, dim } = output.colour
  const known =
    passed === 0
      ? ''
      : passed === events
        ? ', all of them here already'
        : `, ${formatCount(passed)} of them here already`
  const result = [`${green('✓')} ${plural(events, 'event')} of ${plural(runs, 'run')} imported${known}.`]
  if (refusedTotal > 0) result.push(`${red('✗')} ${plural(refusedTotal, 'record')} refused:`, '')
  result.push(...refusals(refused, width))
  if (refusedTotal > LISTED) result.push(dim(`  … and ${refusedTotal - LISTED} more; --json lists a hundred`))
  const last = format === 'ndjson' ? next('clew verify') : next('clew search "words to find"')
  return [...result, '', dim(`${next('clew runs')} · ${last}`)]
}
