import type { Ledger } from '@clew/ledger'
import { diagnose } from '../../diagnose.ts'
import type { doctor } from '../../operations/doctor.ts'
import type { Check, ScanReport } from '../../operations/doctor.ts'
import { scanSecrets } from '../../scan-secrets.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { proposalLines } from '../retention-lines.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable, wrap } from '../text.ts'

/** Not `doctor.run`, which has an open ledger: here a store that does not open is a finding. */
export const doctorCommand: Command<InputOf<typeof doctor>> = async ({
  input,
  terminal,
  storeUrl,
  withLedger,
}) => {
  const { ok, checks, retention } = await diagnose(storeUrl, (look) => withLedger(look), 'of the store')
  const opens = checks.every((check) => check.name !== 'store' || check.status === 'ok')
  const scan = input.scan === true && opens ? await withLedger((ledger) => scanned(ledger, terminal)) : null
  const fine = ok && (scan?.total ?? 0) === 0
  const report = { ok: fine, checks, retention, scan }
  await terminal.answer(report, () => [
    ...lines(terminal, checks),
    ...(retention?.proposal ? ['', ...proposalLines(terminal, retention)] : []),
    ...(scan ? ['', ...scanLines(terminal, scan)] : []),
  ])
  return fine ? EXIT.fine : EXIT.no
}

async function scanned(ledger: Ledger, terminal: Terminal): Promise<ScanReport> {
  const total = (await ledger.stats()).events
  const progress = createProgress(terminal, 'scanning', (done) => plural(done, 'event'), total)
  keepMemorySteady()
  try {
    return await scanSecrets(ledger, progress.update)
  } finally {
    progress.end()
  }
}

const LISTED = 20
const OFFERED = 5
const COLUMNS: readonly Column[] = [
  { title: 'RUN' },
  { title: 'SEQ', align: 'right' },
  { title: 'KIND' },
  { title: 'PATH', flexible: true },
]

function scanLines(
  { output, width, next }: Terminal,
  { events, places, total, erase }: ScanReport,
): string[] {
  const { green, red, dim } = output.colour
  const [first] = places
  if (!first) return [`${green('✓')} No secret in clear: ${plural(events, 'event')} read.`]
  const rows = places
    .slice(0, LISTED)
    .map(({ runId, seq, kind, path }) => [printable(runId), String(seq), kind, printable(path)])
  const [head = '', ...body] = formatTable(COLUMNS, rows, width)
  const id = printable(first.runId)
  return [
    `${red('✗')} ${plural(total, 'place')} that today's rules would redact: ${plural(events, 'event')} read.`,
    '',
    dim(head),
    ...body,
    ...(total > LISTED
      ? [dim(`… and ${plural(total - LISTED, 'more place')}; --json lists a thousand`)]
      : []),
    '',
    'Change these secrets where they are used, then erase what holds them:',
    ...erase.slice(0, OFFERED).map((command) => `  ${next(command)}`),
    ...(erase.length > OFFERED
      ? [dim(`  … and ${plural(erase.length - OFFERED, 'more command')}; --json has them`)]
      : []),
    '',
    dim(next(`clew events ${id} --after ${first.seq - 1} --limit 1`)),
  ]
}

const MARKS = { ok: '✓', warn: '!', fail: '✗' } as const
const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const NAME = 12

function lines({ output, width, next }: Terminal, checks: readonly Check[]): string[] {
  const { colour } = output
  const result = checks.flatMap(({ name, status, detail, hint }) => {
    const [first = '', ...more] = wrap(printable(detail), width - NAME - 6)
    const indent = ' '.repeat(NAME + 4)
    return [
      `${colour[STYLES[status]](MARKS[status])} ${name.padEnd(NAME)}  ${first}`,
      ...more.map((line) => indent + line),
      ...(hint === null
        ? []
        : wrap(printable(`→ ${hint}`), width - NAME - 6).map((line) => indent + colour.dim(line))),
    ]
  })
  const wrong = checks.filter((check) => check.status !== 'ok').length
  const verdict = wrong === 0 ? 'No problems found' : `${plural(wrong, 'finding')} to check`
  return [...result, '', colour.dim(`${verdict} · ${next('clew verify')}`)]
}
