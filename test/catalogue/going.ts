import { type ClewEvent, deriveId, type EventInput } from '@clew/ledger'
import type { Agent, Divergence } from './agent.ts'
import { type Outcome, type RunRecord, stepIdOf, withoutPast } from './record.ts'
import { openScope, type Scope, type Step } from './step.ts'
import { sha256, SOURCE, type World } from './world.ts'

export interface ExecuteOptions {
  readonly world: World
  readonly agent: Agent
  readonly runId: string
  readonly record: RunRecord
  /** `replay` writes nothing and calls no effect. */
  readonly replay: boolean
}

interface CompletedStep {
  readonly stepId: string
  readonly digest: unknown
  readonly end: ClewEvent
}

/** A run that is going: what its parts share. */
export interface Going {
  readonly world: World
  readonly agent: Agent
  readonly runId: string
  readonly replay: boolean
  readonly seed: string
  /** What is recorded, and of that what a resume still has to go through. */
  readonly whole: RunRecord
  readonly record: RunRecord
  readonly root: Scope
  readonly steps: Map<string, Step>
  readonly completed: CompletedStep[]
  /** Recorded events that are still to wake the code, and those that happened now. */
  readonly wakes: ClewEvent[]
  readonly ready: ClewEvent[]
  /** Bodies that came to an end. */
  readonly settled: Step[]
  readonly waiting: Set<Step>
  /** What was in flight, for when the record is used up. */
  readonly deferred: (() => void)[]
  readonly readings: [string, number][]
  rootResult: Outcome | undefined
  cause: string
  called: number
  starts: number
  busy: number
  caughtUp: boolean
  divergence: Divergence | undefined
  fatal: Error | undefined
  wake: () => void
}

export function openGoing({ world, agent, runId, record: whole, replay }: ExecuteOptions): Going {
  const record = replay ? whole : withoutPast(whole)
  const attempts = [...whole.attempts.values()].flat()
  return {
    world,
    agent,
    runId,
    replay,
    seed: record.started.payload['seed'] as string,
    whole,
    record,
    root: openScope('', null, agent.name, 0),
    steps: new Map(),
    completed: attempts
      .flatMap(({ start, end }) => (end?.eventType === 'execution.step_completed' ? [{ start, end }] : []))
      .map(({ start, end }) => ({ stepId: stepIdOf(end), digest: start.payload['inputDigest'], end })),
    wakes: world.faults.has('completion-order-ignored') ? byStart(record) : [...record.wakes],
    ready: [],
    settled: [],
    waiting: new Set(),
    deferred: [],
    readings: [],
    rootResult: undefined,
    cause: record.started.eventId,
    called: 0,
    starts: attempts.length,
    busy: 0,
    caughtUp: false,
    divergence: undefined,
    fatal: undefined,
    wake: () => {},
  }
}

export const never = new Promise<never>(() => {})

export function diverge(
  going: Going,
  kind: Divergence['kind'],
  stepId: string | null,
  expected: unknown,
  received: unknown,
): void {
  going.divergence ??= { kind, stepId, expected, received }
  going.wake()
}

/** An event that takes along what was read of the clock since the one before. */
export function draft(
  { runId, readings }: Going,
  eventType: string,
  ids: (string | number)[],
  causationId: string,
  payload: Record<string, unknown>,
) {
  const clock = readings.splice(0)
  return {
    eventType,
    eventId: deriveId(sha256, runId, eventType, ...ids),
    correlationId: runId,
    causationId,
    source: SOURCE,
    payload: { ...payload, ...(clock.length > 0 && { clock }) },
  } satisfies EventInput
}

export async function send(going: Going, events: readonly EventInput[]): Promise<readonly ClewEvent[]> {
  going.busy++
  try {
    return await going.world.ledger.append(events)
  } catch (error) {
    going.fatal ??= error as Error
    return never
  } finally {
    going.busy--
    going.wake()
  }
}

/** The planted mistake: each step wakes the code when its turn by start comes, not when it really ended. */
function byStart(record: RunRecord): ClewEvent[] {
  const place = new Map(record.calls.map((call, i) => [stepIdOf(call), i]))
  return record.wakes.toSorted((a, b) => (place.get(stepIdOf(a)) ?? 0) - (place.get(stepIdOf(b)) ?? 0))
}
