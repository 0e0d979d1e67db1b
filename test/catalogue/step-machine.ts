import { type ClewEvent, deriveId, type EventInput, type JsonValue, type Ledger } from '@clew/ledger'
import type { Agent, Fault, Replayed, RunResult } from './agent.ts'
import { execute } from './execution.ts'
import { collect, indexRecord, outcomeOf, type RunRecord } from './record.ts'
import { type ChildLink, sha256, SOURCE, type World } from './world.ts'

export interface MachineOptions {
  readonly ledger: Ledger
  readonly clock?: () => number
  readonly faults?: ReadonlySet<Fault>
}

export interface StartOptions {
  readonly runId: string
  /** Source of `random` and `uuid`; by default it belongs to the run id. */
  readonly seed?: string | undefined
  readonly parentRunId?: string
  readonly parentStepId?: string
  /** The event that led to this run, when there is one. */
  readonly cause?: string
}

/** The smallest step machine that can prove the event catalogue: it keeps nothing but what the ledger keeps. */
export interface Machine {
  start(agent: Agent, input: JsonValue, options: StartOptions): Promise<RunResult>
  /** Goes on after a crash, or with the answer to an open pause. */
  resume(agent: Agent, runId: string, answer?: { pauseId: string; answer: JsonValue }): Promise<RunResult>
  replay(agent: Agent, runId: string): Promise<Replayed>
  /** A new run that shares the first `seq` events of another. */
  fork(agent: Agent, source: { runId: string; seq: number }, runId: string): Promise<RunResult>
}

export function createMachine({ ledger, clock = Date.now, faults = new Set() }: MachineOptions): Machine {
  const world: World = { ledger, clock, faults, child: openChild }

  async function load(runId: string): Promise<ClewEvent[]> {
    return collect(ledger.read(runId))
  }

  const run = (agent: Agent, runId: string, events: readonly ClewEvent[]): Promise<RunResult> =>
    execute({ world, agent, runId, record: indexRecord(events), replay: false }).live()

  async function start(
    agent: Agent,
    input: JsonValue,
    { runId, seed = sha256(runId), cause = '', ...parent }: StartOptions,
  ): Promise<RunResult> {
    const event = draft(runId, 'system.workflow_started', [], cause || null, {
      agent: agent.name,
      input,
      seed,
      ...parent,
    })
    return run(agent, runId, await ledger.append([event], { expectedSeq: 0 }))
  }

  async function resumeFrom(
    agent: Agent,
    runId: string,
    events: readonly ClewEvent[],
    answer?: { pauseId: string; answer: JsonValue },
  ): Promise<RunResult> {
    const record = indexRecord(events)
    if (isOver(record)) throw new Error(`Run ${runId} has ended: there is nothing to resume`)
    if (!answer && openPauses(record).length > 0 && isPaused(events))
      throw new Error(`Run ${runId} waits for an answer`)
    const life = record.last.ledger.seq
    const received = answer && [answerEvent(record, runId, answer)]
    const by = received?.[0]?.eventId ?? record.last.eventId
    const resumed = draft(runId, 'system.workflow_resumed', [life], by, {
      reason: answer ? 'answered' : 'crashed',
    })
    const added = await ledger.append([...(received ?? []), resumed], { expectedSeq: life })
    return run(agent, runId, [...events, ...added])
  }

  /** R5: a child that ended while its parent's step was not written gives its end back; it is not run again. */
  async function openChild(
    agent: Agent,
    input: JsonValue,
    link: ChildLink,
  ): Promise<RunResult & { restored?: boolean }> {
    const { answers, ...options } = link
    const events = await load(link.runId)
    if (events.length === 0) return start(agent, input, options)
    const record = indexRecord(events)
    if (record.end) {
      const outcome = outcomeOf(record.end)
      return 'output' in outcome
        ? { status: 'completed', output: outcome.output, restored: true }
        : { status: 'failed', error: outcome.error }
    }
    const open = openPauses(record)
    if (!isPaused(events)) return resumeFrom(agent, link.runId, events)
    const answered = open.find(({ pauseId }) => answers.has(pauseId))
    if (!answered) return { status: 'paused', pauses: open }
    const answer = answers.get(answered.pauseId)?.payload['answer'] as JsonValue
    const result = await resumeFrom(agent, link.runId, events, { pauseId: answered.pauseId, answer })
    // Its other questions may have their answers here already.
    return result.status === 'paused' && result.pauses.some(({ pauseId }) => answers.has(pauseId))
      ? openChild(agent, input, link)
      : result
  }

  return {
    start,
    resume: async (agent, runId, answer) => resumeFrom(agent, runId, await load(runId), answer),
    async replay(agent, runId) {
      return execute({ world, agent, runId, record: indexRecord(await load(runId)), replay: true }).replayed()
    },
    async fork(agent, source, runId) {
      const payload = { sourceRunId: source.runId, sourceSeq: source.seq }
      await ledger.append([draft(runId, 'system.workflow_forked', [], null, payload)], {
        expectedSeq: source.seq,
      })
      return run(agent, runId, await load(runId))
    },
  }
}

function draft(
  runId: string,
  eventType: string,
  ids: (string | number)[],
  causationId: string | null,
  payload: Record<string, unknown>,
): EventInput & { eventId: string } {
  const eventId = deriveId(sha256, runId, eventType, ...ids)
  return { eventType, eventId, correlationId: runId, causationId, source: SOURCE, payload }
}

/** Settles a pause by its id (R6): refused before any write when it is not open. */
function answerEvent(
  record: RunRecord,
  runId: string,
  { pauseId, answer }: { pauseId: string; answer: JsonValue },
): EventInput & { eventId: string } {
  const question = record.questions.get(pauseId)
  if (!question || record.answers.has(pauseId))
    throw new Error(`The pause ${pauseId} of run ${runId} is not open`)
  const { stepId, attempt } = question.payload
  const event = draft(runId, 'ui.input_received', [pauseId], question.eventId, {
    pauseId,
    stepId,
    attempt,
    answer,
  })
  return { ...event, source: { origin: 'ui', runtime: 'clew' } }
}

const isOver = (record: RunRecord): boolean => record.end !== undefined

function isPaused(events: readonly ClewEvent[]): boolean {
  return (
    events.findLast(({ eventType }) => /^system\.workflow_(?!blocked)/.test(eventType))?.eventType ===
    'system.workflow_paused'
  )
}

function openPauses({ questions, answers }: RunRecord): { pauseId: string; question: JsonValue }[] {
  return [...questions]
    .filter(([pauseId]) => !answers.has(pauseId))
    .map(([pauseId, { payload }]) => ({ pauseId, question: payload['question'] as JsonValue }))
}
