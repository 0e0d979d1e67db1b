import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ClewError } from '@clew/ledger'
import type { z } from 'zod'
import { formatCount } from '../../format-count.ts'
import { formatSize } from '../../format-size.ts'
import type { ImportFile } from '../../import/import-foreign.ts'
import { importEvents } from '../../operations/import.ts'
import type { Command, Flags, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable, wrap } from '../text.ts'

export const importCommand: Command<InputOf<typeof importEvents>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const names = filesOf(flags)
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

function lines(
  { output, width, next }: Terminal,
  { runs, events, passed, refused, refusedTotal }: z.output<typeof importEvents.output>,
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
  for (const { file, line, reason } of refused.slice(0, LISTED)) {
    const place = printable(line === null ? file : `${file}:${line}`)
    result.push(`  ${place}`, ...wrap(printable(reason), width - 4).map((text) => `    ${text}`))
  }
  if (refusedTotal > LISTED) result.push(dim(`  … and ${refusedTotal - LISTED} more; --json lists a hundred`))
  const last = format === 'ndjson' ? next('clew verify') : next('clew search "words to find"')
  return [...result, '', dim(`${next('clew runs')} · ${last}`)]
}
