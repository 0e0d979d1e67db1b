import { readFile, writeFile } from 'node:fs/promises'
import { ClewError, type Ledger, parseSignedHeads, type Problem, type Verification } from '@clew/ledger'
import { verify } from '../../operations/verify.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { resolveRun } from '../resolve-run.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import { formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable } from '../text.ts'
import { formatDuration } from '../time.ts'

const SHOWN = 50

interface Signed {
  readonly file: string
  readonly heads: number
  readonly publicKey: string
}

export const verifyCommand: Command<InputOf<typeof verify>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const headsFile = text(flags['heads'])
  const heads = headsFile === undefined ? undefined : parseSignedHeads(await readFile(headsFile, 'utf8'))
  keepMemorySteady()
  return withLedger(async (ledger) => {
    const runId = input.runId === undefined ? undefined : await resolveRun(ledger, input.runId)
    const events = runId === undefined ? (await ledger.stats()).events : (await ledger.getRun(runId))?.events
    const progress = createProgress(terminal, 'verifying', (done) => plural(done, 'event'), events)
    const startedMs = performance.now()
    let result: Verification
    try {
      result = await verify.run(ledger, { ...input, runId, heads }, { onProgress: progress.update })
    } finally {
      progress.end()
    }
    const tookMs = performance.now() - startedMs
    const target = text(flags['signHeads'])
    const signed =
      target !== undefined && result.ok ? await signHeads(ledger, target, text(flags['key'])) : undefined
    await terminal.answer({ ...result, ...(signed && { signed }) }, () =>
      lines(terminal, result, tookMs, signed, target),
    )
    return result.ok ? EXIT.fine : EXIT.no
  })
}

async function signHeads(ledger: Ledger, file: string, key: string | undefined): Promise<Signed> {
  const { headSigner } = await import('../../signing.ts')
  const keyFile = key ?? `${storePath(ledger.url)}.signing.pem`
  const signed = await ledger.signHeads(headSigner(keyFile))
  await writeFile(file, `${JSON.stringify(signed, null, 2)}\n`)
  return { file, heads: signed.heads.length, publicKey: signed.publicKey }
}

function storePath(url: string): string {
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  if (path !== undefined) return path
  throw new ClewError(
    'bad_option',
    `The ledger ${url} has no folder for a key`,
    'Name one with --key FILE.',
    { option: '--key' },
  )
}

function lines(
  { output, width, next }: Terminal,
  { ok, checked, problems, pruned }: Verification,
  tookMs: number,
  signed: Signed | undefined,
  target: string | undefined,
): string[] {
  const { green, red, dim } = output.colour
  const seen = `${plural(checked, 'event')} checked in ${formatDuration(tookMs)}`
  if (ok) {
    const result = [`${green('✓')} Nothing was changed: ${seen}.`]
    const sealed = pruned.filter((range) => range.states === undefined)
    const runsOf = (ranges: Verification['pruned']): string =>
      plural(new Set(ranges.map(({ runId }) => runId)).size, 'run')
    if (sealed.length > 0) {
      const events = sealed.reduce((sum, { fromSeq, toSeq }) => sum + toSeq - fromSeq + 1, 0)
      result.push(
        `  ${plural(events, 'event')} of ${runsOf(sealed)} were pruned by retention, each range under its seal.`,
      )
    }
    const states = pruned.filter((range) => range.states !== undefined)
    if (states.length > 0) {
      const count = states.reduce((sum, range) => sum + (range.states ?? 0), 0)
      result.push(
        `  ${plural(count, 'state')} of ${runsOf(states)} were pruned by retention; their events stay.`,
      )
    }
    if (!signed)
      return [
        ...result,
        '',
        dim(`${next('clew verify --sign-heads heads.json')} · then keep heads.json elsewhere`),
      ]
    result.push(
      `${green('✓')} ${plural(signed.heads, 'head')} signed into ${printable(signed.file)}; keep it on another machine.`,
    )
    return [...result, '', dim(next(`clew verify --heads ${signed.file} --public-key ${signed.publicKey}`))]
  }
  const columns = [
    { title: 'RUN' },
    { title: 'SEQ', align: 'right' },
    { title: 'PROBLEM' },
    { title: 'DETAIL', flexible: true },
  ] as const
  const [head = '', ...body] = formatTable(columns, problems.slice(0, SHOWN).map(row), width)
  const result = [`${red('✗')} ${plural(problems.length, 'problem')} found: ${seen}.`, '', dim(head), ...body]
  if (problems.length > SHOWN)
    result.push(dim(`… and ${problems.length - SHOWN} more: ${next('clew verify --json')}`))
  if (target !== undefined) result.push('', `Nothing was signed: ${printable(target)} was not written.`)
  return [...result, '', dim(next(nextCommand(problems)))]
}

/** Rows are made again from the events; for events, the place of the first problem is shown. */
function nextCommand(problems: readonly Problem[]): string {
  const first = problems.find(({ problem }) => problem !== 'projection_differs')
  if (!first) return 'clew rebuild'
  return `clew events ${first.runId || '<run>'} --after ${Math.max(0, (first.seq ?? 1) - 2)} --limit 3 --full`
}

const row = ({ runId, seq, problem, detail }: Problem): string[] => [
  printable(runId || '–'),
  seq === null ? '–' : String(seq),
  problem,
  printable(detail),
]
