import { asOwn } from '../catalogue/catalogue.ts'
import { comparableText } from '../diff/items.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import type { ScoreValue } from '../fold/scores-and-tags.ts'
import { isObject } from '../json.ts'
import type { Ledger } from '../ledger.ts'

/** Properties that a good run can share with the run it is compared with, the closest match first. */
export type MatchedBy = 'task' | 'input' | 'thread' | 'agent'

/** How a run turned out by a score or by its metadata, beside its status. */
export interface RunOutcome {
  readonly name: string
  readonly value: ScoreValue
  readonly isGood: boolean
}

type Reads = Pick<Ledger, 'read' | 'listRuns'>

/** Scores and fields of metadata that say how a run turned out, the first one that is there counts. */
const OUTCOMES = ['reward', 'success', 'passed', 'pass', 'correct', 'resolved', 'outcome', 'score'] as const
/** Tags and fields of metadata that name the task of a run. */
const TASKS = ['task', 'task_id', 'taskId', 'task_name', 'case', 'case_id', 'scenario'] as const
const GOOD_WORDS: ReadonlySet<string> = new Set([
  'true',
  'yes',
  'pass',
  'passed',
  'success',
  'correct',
  'good',
])
/** Rewards and scores go up to 1, or are -1 or 1. */
const MIN_GOOD = 0.5
/** Candidates whose beginning is read. */
const MAX_CANDIDATES = 300
const PAGE = 100
/** Event types among a run's first events that show its task. */
const FIRST_TYPES = ['system.workflow_started', 'execution.message'] as const
const FIRST_EVENTS = 5

/** Task and outcome of a run. */
export interface RunFacts {
  readonly task: string | null
  readonly input: string | null
  readonly outcome: RunOutcome | null
}

export async function readRunFacts(ledger: Reads, run: RunSummary): Promise<RunFacts> {
  const first: ClewEvent[] = []
  const options = { types: FIRST_TYPES, limit: FIRST_EVENTS }
  for await (const event of ledger.read(run.runId, options)) first.push(event)
  const started = first.map(asOwn).find((own) => own?.eventType === 'system.workflow_started')?.payload ?? {}
  const { metadata, input } = started
  const facts = isObject(metadata) ? metadata : {}
  const tag = TASKS.find((name) => run.tags[name] !== undefined)
  const field = TASKS.find((name) => isPlain(facts[name]))
  return {
    task: tag !== undefined ? (run.tags[tag] ?? null) : field === undefined ? null : String(facts[field]),
    input: inputOf(first, input),
    outcome: outcomeOf(run, facts),
  }
}

/** The input of the run, or what a person asked first. */
function inputOf(first: readonly ClewEvent[], input: unknown): string | null {
  const asked = first
    .map(asOwn)
    .find((own) => own?.eventType === 'execution.message' && own.payload.role === 'user')
  const value = input ?? (asked?.eventType === 'execution.message' ? asked.payload.content : undefined)
  return value === undefined || value === null ? null : comparableText(value)
}

function outcomeOf({ scores }: RunSummary, metadata: Readonly<Record<string, unknown>>): RunOutcome | null {
  for (const name of OUTCOMES) {
    const score = scores.findLast((each) => each.stepId === null && each.name === name)
    if (score) return { name, value: score.value, isGood: isGoodValue(score.value) }
  }
  for (const name of OUTCOMES) {
    const value = metadata[name]
    if (isPlain(value)) return { name, value, isGood: isGoodValue(value) }
  }
  return null
}

const isPlain = (value: unknown): value is ScoreValue =>
  typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value !== '')

const isGoodValue = (value: ScoreValue): boolean =>
  typeof value === 'number'
    ? value >= MIN_GOOD
    : typeof value === 'boolean'
      ? value
      : GOOD_WORDS.has(value.toLowerCase())

export interface LastGoodRun {
  readonly run: RunSummary
  readonly matched: MatchedBy
}

const CLOSENESS: readonly MatchedBy[] = ['task', 'input', 'thread', 'agent']

/**
 * The newest good run that has most in common with this one: the same task, the same input, the thread, or the agent. A
 * run is good if it completed and no outcome says otherwise. Of the same task or input a later one counts, too.
 */
export async function findLastGood(
  ledger: Reads,
  run: RunSummary,
  facts: RunFacts,
): Promise<LastGoodRun | null> {
  const found = new Map<MatchedBy, LastGoodRun>()
  const seen = new Set([run.runId])
  for (const filter of filtersOf(run)) {
    for await (const other of candidates(ledger, filter)) {
      if (seen.has(other.runId)) continue
      seen.add(other.runId)
      const theirs = await readRunFacts(ledger, other)
      if (theirs.outcome?.isGood === false) continue
      const matched = matchOf(run, facts, other, theirs)
      if (matched !== null && !found.has(matched)) found.set(matched, { run: other, matched })
      if (found.has('task') || (facts.task === null && found.has('input'))) break
    }
  }
  for (const matched of CLOSENESS) {
    const closest = found.get(matched)
    if (closest) return closest
  }
  return null
}

type Filter = Parameters<Reads['listRuns']>[0]

/** Listings that may hold it, from the narrowest to the widest. */
function filtersOf({ tags, threadId, agent }: RunSummary): Filter[] {
  const tag = TASKS.find((name) => tags[name] !== undefined)
  return [
    ...(tag === undefined ? [] : [{ tags: { [tag]: tags[tag] as string } }]),
    ...(threadId === null ? [] : [{ threadId }]),
    ...(agent === null ? [] : [{ agent }]),
  ]
}

async function* candidates(ledger: Reads, filter: Filter): AsyncGenerator<RunSummary> {
  let cursor: string | undefined
  for (let count = 0; count < MAX_CANDIDATES; count += PAGE) {
    const { runs, nextCursor } = await ledger.listRuns({
      ...filter,
      status: 'completed',
      limit: PAGE,
      cursor,
    })
    yield* runs
    if (nextCursor === null) return
    cursor = nextCursor
  }
}

function matchOf(run: RunSummary, own: RunFacts, other: RunSummary, theirs: RunFacts): MatchedBy | null {
  if (own.task !== null && own.task === theirs.task && run.agent === other.agent) return 'task'
  if (own.input !== null && own.input === theirs.input && run.agent === other.agent) return 'input'
  if (other.startedAt > run.startedAt) return null
  if (run.threadId !== null && run.threadId === other.threadId) return 'thread'
  return run.agent !== null && run.agent === other.agent ? 'agent' : null
}
