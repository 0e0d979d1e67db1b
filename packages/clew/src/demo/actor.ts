import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ClewEvent,
  formatStepId,
  type Ledger,
  type Origin,
  type OwnEventType,
  type PayloadOf,
  type RecordInput,
} from '@clew/ledger'

export interface StepOptions {
  readonly name: string
  readonly ordinal?: number
  readonly parentStepId?: string
  readonly kind: string
  readonly attempt?: number
  readonly input?: unknown
  readonly childRunId?: string
}

export interface StepResult {
  readonly output: unknown
  readonly model?: string
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
}

/** One run of the demo: records what its agent does, each event in the context of its cause (L9). */
export interface Actor {
  readonly runId: string
  record<T extends OwnEventType>(eventType: T, payload: PayloadOf<T>, origin?: Origin): Promise<ClewEvent>
  /** Records the run around `work`; one that is stopped from outside says so. */
  live<T>(started: PayloadOf<'system.workflow_started'>, work: () => Promise<T>): Promise<T>
  /** Records a step around `work`; what it throws is recorded as the step's failure and thrown on. */
  step<T extends StepResult>(options: StepOptions, work: (stepId: string) => Promise<T>): Promise<T>
  /** Time passes, unless the demo is in a hurry. */
  pause(ms: number): Promise<void>
}

export function createActor(
  ledger: Ledger,
  runId: string,
  pace: { fast: boolean; signal?: AbortSignal | undefined },
): Actor {
  const record: Actor['record'] = <T extends OwnEventType>(
    eventType: T,
    payload: PayloadOf<T>,
    origin: Origin = 'agent',
  ) => {
    const source = { origin, runtime: 'clew' }
    return ledger.record({ eventType, correlationId: runId, source, payload } as RecordInput<T>)
  }

  return {
    runId,
    record,
    async live(started, work) {
      const began = await record('system.workflow_started', started, 'system')
      return ledger.causedBy(began, async () => {
        try {
          return await work()
        } catch (error) {
          const reason = 'ended by the person who watched'
          if (pace.signal?.aborted) await record('system.workflow_stopped', { reason }, 'system')
          throw error
        }
      })
    },
    async step({ name, ordinal = 0, parentStepId, attempt = 1, ...rest }, work) {
      const stepId = formatStepId({ parentStepId: parentStepId ?? null, name, ordinal })
      const identity = { stepId, attempt }
      const began = await record('execution.step_started', {
        ...identity,
        name,
        ordinal,
        parentStepId,
        ...rest,
      })
      return ledger.causedBy(began, async () => {
        try {
          const result = await work(stepId)
          const { output, model, usage } = result
          await record('execution.step_completed', {
            ...identity,
            output,
            model,
            usage: usage && { ...usage },
          })
          return result
        } catch (error) {
          if (pace.signal?.aborted) {
            await record('execution.step_stopped', identity)
            throw error
          }
          const { name: kind, message } = error as Error
          await record('execution.step_failed', { ...identity, error: { name: kind, message } })
          throw error
        }
      })
    },
    async pause(ms) {
      pace.signal?.throwIfAborted()
      if (!pace.fast) await sleep(ms, undefined, pace.signal && { signal: pace.signal })
    },
  }
}
