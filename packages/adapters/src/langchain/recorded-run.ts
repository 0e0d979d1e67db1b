import { hash } from 'node:crypto'
import {
  createDeriver,
  type EventInput,
  formatStepId,
  type Ledger,
  type Origin,
  type Payload,
  type StepSkeleton,
} from '@clew/ledger'

/** Parent of steps: the run itself, or a step of it. */
export interface Scope {
  readonly stepId: string | null
  /** That of the node it lies in. */
  readonly superstep?: number | undefined
  /** The event that began it. */
  startId: string | null
  readonly ordinals: Map<string, number>
  /** Steps of it that run now, and those that ran since the last moment at which none did. */
  open: number
  together: number
  /** Whether those were nodes of one superstep, all of which lead to the next one. */
  isSuperstep: boolean
  lastEndId: string | null
  causeId: string | null
}

export interface OpenStep extends Scope {
  readonly stepId: string
  readonly parent: Scope
  readonly name: string
  readonly attempt: number
  /** The step waits for an answer and stays open at the end of the invocation. */
  waits: boolean
}

export const createScope = (stepId: string | null, startId: string | null): Scope => ({
  stepId,
  startId,
  ordinals: new Map(),
  open: 0,
  together: 0,
  isSuperstep: false,
  lastEndId: null,
  causeId: null,
})

export interface TraceEvent {
  readonly type: string
  /** Parts of the event id, with the run: recorded twice, it is one event (L4). */
  readonly key: readonly string[]
  readonly cause: string | null
  readonly payload: Payload
  readonly origin?: Origin | undefined
}

export interface NodePlace {
  readonly superstep: number
  /** Tells apart what runs under one name in one superstep; the same when the framework runs it again. */
  readonly key: string
}

export interface NewStep {
  readonly lcRunId: string
  readonly scope: Scope
  readonly name: string
  readonly kind: string
  readonly input?: unknown
  readonly node?: NodePlace | undefined
  /** Key of a step whose ordinal is unknown. */
  readonly key?: string | undefined
  /** Cause, if it is known better than from the order of steps. */
  readonly cause?: string | undefined
}

/** A run of the ledger while callbacks report it. */
export interface RecordedRun {
  readonly runId: string
  /** This handler started the run, so it records the end. */
  readonly owns: boolean
  /** A saver writes the run, with its nodes, messages, questions and end. */
  readonly isJoined: boolean
  readonly scope: Scope
  /** Open questions, and the events that asked them. */
  readonly pauses: Map<string, string>
  /** Which message asked for a tool call. */
  readonly asked: Map<string, string>
  draft(event: TraceEvent): EventInput & { readonly eventId: string }
  append(events: readonly EventInput[]): Promise<unknown>
  /** The step, and its start event unless it is entered again after a pause. */
  begin(step: NewStep): { readonly step: OpenStep; readonly event: EventInput | undefined }
  /** False when it was closed before; `endId` is what may lead to the next one. */
  close(step: OpenStep, endId: string): boolean
  /** True the first time. */
  tellsFirst(text: string): boolean
  /** Ends abandoned steps: with `isPaused`, all but those that wait for an answer. */
  unfinishedSteps(isPaused: boolean): OpenStep[]
}

/** Steps that an earlier invocation, perhaps in another process, had started. */
type Past = readonly Pick<StepSkeleton, 'stepId' | 'nodeName' | 'status' | 'attempt' | 'spanId'>[]

export interface RunParts {
  readonly ledger: Ledger
  readonly runId: string
  readonly owns: boolean
  readonly runtime: string
  readonly scope: Scope
  readonly past?: Past | undefined
  /** How a saver that writes the run appends to it. */
  readonly append?: ((events: readonly EventInput[]) => Promise<void>) | undefined
}

const sha256 = (text: string): string => hash('sha256', text)

export function createRecordedRun(parts: RunParts): RecordedRun {
  const { ledger, runId, owns, runtime, scope, past = [] } = parts
  const derive = createDeriver(sha256, runId)
  const steps = new Set<OpenStep>()
  /** How often a step of this id was begun. */
  const attempts = new Map<string, number>()
  const told = new Set<string>()
  for (const { stepId, nodeName: name, status, attempt, spanId } of past) {
    attempts.set(stepId, attempt)
    if (status === 'paused' || status === 'running')
      steps.add({ ...createScope(stepId, spanId), stepId, parent: scope, name, attempt, waits: true })
  }

  function leads({ scope: parent, cause, node }: NewStep): string | null {
    if (parent.open === 0) {
      // After one step, or all nodes of a superstep, it is plain what led on. After several at once it is not.
      const isPlain = parent.together === 1 || (parent.together > 1 && parent.isSuperstep)
      parent.causeId = isPlain ? parent.lastEndId : parent.startId
      parent.together = 0
      parent.isSuperstep = node !== undefined
    }
    parent.open++
    parent.together++
    return cause ?? parent.causeId
  }

  function identify({ scope: parent, name, node, key }: NewStep): string {
    const own = node ? node.key : key
    const ordinal = parent.ordinals.get(name) ?? 0
    if (own === undefined) parent.ordinals.set(name, ordinal + 1)
    return formatStepId({ parentStepId: parent.stepId, name, key: own, ordinal })
  }

  const run: RecordedRun = {
    runId,
    owns,
    isJoined: parts.append !== undefined,
    scope,
    pauses: new Map(),
    asked: new Map(),
    draft: ({ type, key, cause, payload, origin = 'agent' }) => ({
      eventType: type,
      eventId: derive(type, ...key),
      correlationId: runId,
      causationId: cause,
      source: { origin, runtime },
      payload,
    }),
    append: async (events) => (events.length > 0 ? (parts.append ?? ledger.append)(events) : undefined),
    begin(given) {
      const { scope: parent, name, kind, node, input, lcRunId } = given
      const cause = leads(given)
      const superstep = node?.superstep ?? parent.superstep
      const stepId = identify(given)
      const left = steps.values().find((step) => step.waits && step.stepId === stepId)
      if (left) {
        // Entered again from its beginning; what happens inside it now is led to by the answer.
        steps.delete(left)
        const step = {
          ...left,
          ...createScope(stepId, parent.startId),
          stepId,
          parent,
          superstep,
          waits: false,
        }
        steps.add(step)
        return { step, event: undefined }
      }
      const attempt = (attempts.get(stepId) ?? 0) + 1
      attempts.set(stepId, attempt)
      const event = run.draft({
        type: 'execution.step_started',
        key: [lcRunId],
        cause,
        payload: {
          stepId,
          name,
          kind,
          parentStepId: parent.stepId,
          ...(attempt > 1 && { attempt }),
          ...(superstep !== undefined && { superstep }),
          ...(input !== undefined && { input }),
        },
      })
      const step: OpenStep = {
        ...createScope(stepId, event.eventId),
        stepId,
        parent,
        name,
        attempt,
        superstep,
        waits: false,
      }
      steps.add(step)
      return { step, event }
    },
    close(step, endId) {
      if (!steps.delete(step)) return false
      if (!step.waits) step.parent.open--
      step.parent.lastEndId = endId
      return true
    },
    tellsFirst(text) {
      const digest = sha256(text)
      if (told.has(digest)) return false
      told.add(digest)
      return true
    },
    unfinishedSteps: (isPaused) => [...steps].filter((step) => !(isPaused && step.waits)),
  }

  return run
}
