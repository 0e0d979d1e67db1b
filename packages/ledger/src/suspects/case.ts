import type { ClewEvent } from '../event/envelope.ts'
import type { RunSummary } from '../fold/run-summary.ts'
import { foldSteps, type StepRecord } from '../fold/steps.ts'
import type { RunOutcome } from '../read/last-good.ts'
import { keysOf, scalarsOf } from './scalars.ts'

/** Something that came into the run: what a step, a tool or a model gave back. */
export interface Product {
  /** Event that holds it. */
  readonly event: ClewEvent
  readonly step: StepRecord | null
  readonly name: string
  readonly value: unknown
  readonly scalars: ReturnType<typeof scalarsOf>
  /** Names of its fields, at any depth. */
  readonly keys: ReadonlySet<string>
}

/** A run whose failure is to be explained, as the detectors read it. */
export interface Case {
  readonly run: RunSummary
  /** In the order in which they happened. */
  readonly events: readonly ClewEvent[]
  readonly bySeq: ReadonlyMap<number, ClewEvent>
  readonly steps: readonly StepRecord[]
  readonly products: readonly Product[]
  /** The innermost step that failed last; null if none did. */
  readonly failed: StepRecord | null
  /** What the failed step, or else the end of the run, was given: where a wrong value shows. */
  readonly end: { readonly event: ClewEvent; readonly value: unknown; readonly error: string } | null
  /** It failed, was stopped or blocked, or its outcome says that it went wrong. */
  readonly isBad: boolean
  readonly nowMs: number
}

const BAD: ReadonlySet<RunSummary['status']> = new Set(['failed', 'stopped', 'blocked', 'interrupted'])

export function openCase(
  run: RunSummary,
  events: readonly ClewEvent[],
  failed: StepRecord | null,
  outcome: RunOutcome | null,
  nowMs: number,
): Case {
  const steps = foldSteps(events)
  const bySeq = new Map(events.map((event) => [event.ledger.seq, event]))
  return {
    run,
    events,
    bySeq,
    steps,
    products: productsOf(events, steps),
    failed,
    end: endOf(run, events, bySeq, failed),
    isBad: BAD.has(run.status) || outcome?.isGood === false,
    nowMs,
  }
}

export function productsOf(events: readonly ClewEvent[], steps: readonly StepRecord[]): Product[] {
  const byEnd = new Map(steps.map((step) => [step.endedSeq, step]))
  const products: Product[] = []
  const add = (event: ClewEvent, step: StepRecord | null, name: string, value: unknown): void => {
    const scalars = scalarsOf(value)
    products.push({ event, step, name, value, scalars, keys: keysOf(scalars) })
  }
  const calls = new Map<unknown, string>()
  for (const event of events) {
    const { payload, eventType } = event
    if (eventType === 'execution.tool_call' && typeof payload['name'] === 'string')
      calls.set(payload['toolCallId'] ?? payload['tool_call_id'], payload['name'])
    if (eventType === 'execution.step_completed') {
      const step = byEnd.get(event.ledger.seq) ?? null
      add(event, step, step?.nodeName ?? '', payload['output'])
    } else if (eventType === 'execution.tool_result') {
      const name = payload['name'] ?? calls.get(payload['toolCallId'] ?? payload['tool_call_id'])
      add(event, null, typeof name === 'string' ? name : '', payload['result'])
    }
  }
  return products
}

function endOf(
  run: RunSummary,
  events: readonly ClewEvent[],
  bySeq: ReadonlyMap<number, ClewEvent>,
  failed: StepRecord | null,
): Case['end'] {
  const errorOf = (error: RunSummary['error']): string =>
    [error?.name, error?.code, error?.message].filter((part) => typeof part === 'string').join(' ')
  if (failed) {
    const started = bySeq.get(failed.startedSeq)
    const event = bySeq.get(failed.endedSeq ?? failed.startedSeq) ?? started
    return event
      ? { event, value: started?.payload['input'] ?? event.payload['input'], error: errorOf(failed.error) }
      : null
  }
  const event = events.findLast(({ eventType }) =>
    /^system\.workflow_(?:completed|failed|stopped)$/.test(eventType),
  )
  return event ? { event, value: event.payload['output'], error: errorOf(run.error) } : null
}
