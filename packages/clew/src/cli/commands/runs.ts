import { nearMisses } from '@clew/ledger'
import type { Ledger, RunSummary } from '@clew/ledger'
import { formatCount } from '../../format-count.ts'
import { runs } from '../../operations/runs.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { printIds, wantsIds } from '../ids.ts'
import { statusText } from '../marks.ts'
import { formatCost } from '../money.ts'

import { shellWord } from '../question.ts'
import { shortIds } from '../resolve-run.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable } from '../text.ts'
import { formatDuration, formatRelative } from '../time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'RUN' },
  { title: 'STATUS' },
  { title: 'AGENT', flexible: true },
  { title: 'STARTED' },
  { title: 'TOOK', align: 'right' },
  { title: 'EVENTS', align: 'right' },
  { title: 'STEPS', align: 'right' },
  { title: 'TOKENS', align: 'right' },
  { title: 'COST', align: 'right' },
]

export const runsCommand: Command<InputOf<typeof runs>> = async ({ input, flags, terminal, withLedger }) => {
  const onlyIds = wantsIds(flags)
  const { data, near, marks } = await withLedger(async (ledger) => {
    const found = await runs.run(ledger, input)
    return {
      data: found,
      near: found.runs.length > 0 ? [] : await nearNames(ledger, input),
      marks: onlyIds || terminal.json ? new Map<string, string>() : await findMarks(ledger, found.runs),
    }
  })
  if (onlyIds)
    await printIds(
      terminal,
      data.runs.map((run) => run.runId),
    )
  else await terminal.answer(data, () => lines(terminal, data.runs, data.nextCursor, input, near, marks))
  return EXIT.fine
}

/** What the status of a run does not say, by run id. */
async function findMarks(ledger: Ledger, found: readonly RunSummary[]): Promise<Map<string, string>> {
  const [orphans, unserved] = await Promise.all([
    findOrphans(ledger, found),
    findWithoutWorker(ledger, found),
  ])
  return new Map([
    ...[...orphans].map((runId) => [runId, 'owner dead'] as const),
    ...unserved.map((runId) => [runId, 'unserved'] as const),
  ])
}

/** Submitted runs that wait although no live worker has their agent. */
async function findWithoutWorker(ledger: Ledger, found: readonly RunSummary[]): Promise<string[]> {
  const waiting = found.filter((run) => run.waiting === true)
  if (waiting.length === 0) return []
  // Loaded for waiting runs only: listing needs no runtime.
  const { findUnserved } = await import('@clew/runtime')
  const agents = new Set((await findUnserved(ledger)).map(({ agent }) => agent))
  return waiting.flatMap(({ runId, agent }) => (agent !== null && agents.has(agent) ? [runId] : []))
}

/** A persisted *running* does not prove a living process: these have none. */
async function findOrphans(ledger: Ledger, found: readonly RunSummary[]): Promise<Set<string>> {
  if (!found.some((run) => run.status === 'running')) return new Set()
  const leases = await ledger.leases.list()
  return new Set(
    leases
      .filter(({ workspace, state }) => workspace === ledger.workspace && state !== 'alive')
      .map(({ runId }) => runId),
  )
}

/** Agents or threads whose names are close to the one that was asked for, among the newest runs. */
async function nearNames(ledger: Ledger, { agent, threadId }: InputOf<typeof runs>): Promise<string[]> {
  if (agent === undefined && threadId === undefined) return []
  const { runs: newest } = await ledger.listRuns({ limit: 1000 })
  const near = (wanted: string | undefined, names: readonly (string | null)[]): string[] =>
    wanted === undefined
      ? []
      : nearMisses(wanted, new Set(names.filter((name) => name !== null && name !== wanted) as string[]))
  return [
    ...near(
      agent,
      newest.map((run) => run.agent),
    ),
    ...near(
      threadId,
      newest.map((run) => run.threadId),
    ),
  ]
}

function lines(
  terminal: Terminal,
  found: readonly RunSummary[],
  nextCursor: string | null,
  input: InputOf<typeof runs>,
  near: readonly string[],
  marks: ReadonlyMap<string, string>,
): string[] {
  const { colour } = terminal.output
  const [first] = found
  if (!first) {
    const narrowed = Object.keys(input).some((field) => field !== 'limit')
    return [
      near.length > 0
        ? `No run matches. Did you mean ${near.map(printable).join(', ')}? All of them: ${terminal.next('clew runs')}`
        : narrowed
          ? `No run matches. All runs: ${terminal.next('clew runs')}`
          : `No runs yet. Record one: ${terminal.next('clew demo')}`,
    ]
  }
  const now = Date.now()
  const ids = shortIds(found.map((run) => run.runId)).map(printable)
  const rows = found.map((run, at) => [
    ids[at] ?? '',
    statusText(colour, run.status) +
      (marks.has(run.runId) ? colour.yellow(` (${marks.get(run.runId)})`) : ''),
    printable(run.agent ?? '–'),
    formatRelative(run.startedAt, now),
    run.durationMs === null ? '–' : formatDuration(run.durationMs),
    count(run.events),
    count(run.steps),
    count(run.inputTokens + run.outputTokens),
    formatCost(run),
  ])
  // Steps are the first to go where there is no room for all.
  const fits = (_: unknown, at: number): boolean => terminal.width >= 100 || COLUMNS[at]?.title !== 'STEPS'
  const shown = rows.map((cells) => cells.filter(fits))
  const [head = '', ...body] = formatTable(COLUMNS.filter(fits), shown, terminal.width)
  const more =
    nextCursor === null ? '' : ` · ${terminal.next(`clew runs ${again(input)}--cursor ${nextCursor}`)}`
  return [
    colour.dim(head),
    ...body,
    '',
    colour.dim(`${plural(found.length, 'run')} · ${terminal.next(`clew show ${ids[0]}`)}${more}`),
  ]
}

const count = (value: number): string => (value === 0 ? '–' : formatCount(value))

/** The filters, for the next page. */
function again({ q, status, agent, threadId, since, tags, scores, limit }: InputOf<typeof runs>): string {
  const flags = {
    status,
    agent,
    thread: threadId,
    since,
    tag: tags && shellWord(tags.join(',')),
    score: scores && shellWord(scores.join(',')),
    limit: limit === 20 ? undefined : limit,
  }
  const named = Object.entries(flags)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name} ${printable(String(value))} `)
  return [...(q === undefined ? [] : [`${printable(shellWord(q))} `]), ...named].join('')
}
