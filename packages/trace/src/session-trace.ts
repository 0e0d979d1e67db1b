import {
  ClewError,
  type Lease,
  lostLease,
  type ProgressWriter,
  stopAsked,
  type StopRequest,
} from '@clew/ledger'
import type { Content } from './payloads.ts'
import type { FoundSession, OpenStep, TraceEvent, TracePort } from './port.ts'
import {
  type GivenError,
  overSession,
  overStep,
  type StartStepOptions,
  type StepCompletion,
  toErrorPayload,
  toOutput,
} from './session-options.ts'

/** A session that this process writes (T1). Until it ends, its lease is renewed every 15 s. */
export interface SessionTrace {
  readonly workspaceId: string
  readonly streamId: string
  readonly sessionId: string
  /**
   * Aborts when there is nothing more to work on. Its reason is a ClewError: `stopped`, with `reason` and `by` in its
   * fields, if a stop was requested (the session is still ours, to write its end, but no step is begun any more);
   * `stale_epoch` if another process owns it, since it was superseded or taken for dead.
   */
  readonly signal: AbortSignal
  /** Resolves when the start is committed: from then on a reload shows it. */
  startStep(options: StartStepOptions): Promise<ActiveStep>
  notifyCompleted(): Promise<void>
  /** Ends the session as failed, and all its open steps. */
  notifyFailed(error: GivenError): Promise<void>
  /** Ends the session and all its open steps as stopped. */
  notifyStopped(reason?: string): Promise<void>
  /** Gives it up, not at its end: it can be taken up again under its id. */
  notifyInterrupted(reason?: string): Promise<void>
  /**
   * Runs `fn` as the whole of the session: completed when it resolves, failed when it throws, stopped if a stop was
   * requested, unless `fn` has ended the session itself. In any case the heartbeat stops and the stream is free.
   */
  withSession<T>(fn: (session: SessionTrace) => T | Promise<T>): Promise<T>
}

export interface ActiveStep {
  readonly stepId: string
  /** The text so far, not the new part: losing one does no harm (T4). Nothing of it is stored. */
  progress(progress: { readonly content: Content }): void
  complete(completion?: StepCompletion): Promise<void>
  fail(error: GivenError): Promise<void>
  /** Ends this step with what it has so far; the session goes on. */
  stop(completion?: StepCompletion): Promise<void>
}

export interface SessionTraceParts {
  readonly port: TracePort
  readonly writer: ProgressWriter
  readonly lease: Lease
  readonly found: FoundSession | null
  /** Events that the session has, with those that opened it here. */
  readonly seq: number
  readonly workspaceId: string
  readonly streamId: string
  /** Id of the event by which it began: the cause of its steps. */
  readonly startId: string | undefined
  readonly draft: (
    eventType: string,
    runId: string,
    payload: Record<string, unknown>,
    causationId: string | undefined,
  ) => TraceEvent
  readonly nextId: () => string
  /** Called when the lease was released or lost: the heartbeat ends. */
  readonly onEnd: () => void
}

export interface HeldSession {
  readonly trace: SessionTrace
  /** Sends a heartbeat; false if it could not be sent, for now or for good. */
  beat(): Promise<boolean>
  /** A stop was requested. */
  stop(request: StopRequest): void
}

const isStale = (error: unknown): error is ClewError =>
  error instanceof ClewError && error.code === 'stale_epoch'

export function createSessionTrace(parts: SessionTraceParts): HeldSession {
  const { port, writer, found, workspaceId, streamId, startId, draft, nextId, onEnd } = parts
  const { runId: sessionId, epoch: firstEpoch } = parts.lease
  let { lease, seq } = parts
  let regaining: Promise<boolean> | undefined
  const abort = new AbortController()
  /** Begun on record, and not ended there. */
  const open = new Map<string, OpenStep>()
  /** Ids of the events by which steps began, the cause of their ends. */
  const startIds = new Map<string, string>()
  /** Id of the last event of a step: the cause of the session's end. */
  let lastId = startId
  const closing = new Set<string>()
  const used = new Set<string>()
  let ending: Promise<void> | undefined
  let lost: ClewError | undefined
  let stopped: StopRequest | undefined

  function lose(error: unknown): void {
    if (lost) return
    onEnd()
    lost = isStale(error) ? error : lostLease(lease)
    abort.abort(lost)
  }

  function stop(request: StopRequest): void {
    if (stopped || lost || ending) return
    stopped = request
    abort.abort(stopAsked(sessionId, request))
  }

  async function append(events: readonly TraceEvent[]): Promise<void> {
    if (lost) throw lost
    try {
      await port.append(events, lease.epoch)
    } catch (error) {
      if (!isStale(error)) throw error
      if (!(await regain(error))) throw error
      await port.append(events, lease.epoch)
    }
    seq += events.length
  }

  /**
   * Acquires the lease again after a sweep took this process for dead, as when the server it writes through was killed. Epochs
   * and events are counted, so that any action of another owner shows, which ends the session here.
   */
  async function regain(error: unknown): Promise<boolean> {
    regaining ??= takeAgain()
    try {
      if (await regaining) return true
    } catch {
      // Busy, ended or out of reach: in any case not ours, and the caller gets that error.
    } finally {
      regaining = undefined
    }
    lose(error)
    return false
  }

  async function takeAgain(): Promise<boolean> {
    const taken = await port.take({ sessionId, streamId, supersedes: null })
    const epochs = taken.lease.epoch - lease.epoch
    // The request to stop is in the session too, and not of its owner.
    const added = (taken.found?.seq ?? 0) - seq - (stopped ? 1 : 0)
    const isSwept = epochs === 2 && added === open.size + 1 && taken.found?.status === 'interrupted'
    if (!isSwept && !(epochs === 1 && added === 0)) {
      await port.release(taken.lease)
      return false
    }
    const resumed = event('system.workflow_resumed', { reason: 'taken for dead', epoch: taken.lease.epoch })
    await port.append([resumed], taken.lease.epoch)
    lease = taken.lease
    seq += added + 1
    return true
  }

  async function beat(): Promise<boolean> {
    try {
      await port.renew(lease)
      return true
    } catch (error) {
      if (error instanceof ClewError && error.code === 'closed') lose(error)
      // A store or server that does not answer now may do so the next time.
      return isStale(error) && regain(error)
    }
  }

  const event = (
    eventType: string,
    payload: Record<string, unknown>,
    cause: string | undefined = lastId,
  ): TraceEvent => draft(eventType, sessionId, payload, cause)

  /** All that is open and the end itself, in one append; then the stream is free. */
  function end(stepEnd: string, last: string, payload: Record<string, unknown>): Promise<void> {
    if (ending) return Promise.reject(overSession(sessionId))
    ending = (async () => {
      const left = [...open.values()].filter(({ stepId }) => !closing.has(stepId))
      try {
        await append([
          ...left.map((step) => event(stepEnd, { ...step, ...payload }, startIds.get(step.stepId))),
          event(last, payload),
        ])
        open.clear()
        await Promise.all(left.map((step) => writer.end({ runId: sessionId, ...step })))
      } finally {
        await release()
      }
    })()
    return ending
  }

  async function release(): Promise<void> {
    onEnd()
    if (lost) return
    try {
      await port.release(lease)
    } catch (error) {
      // Another owner took it over, or the ledger is closed: the lease is released either way.
      if (!(error instanceof ClewError) || (error.code !== 'stale_epoch' && error.code !== 'closed'))
        throw error
    }
  }

  async function startStep(options: StartStepOptions): Promise<ActiveStep> {
    if (ending) throw overSession(sessionId)
    abort.signal.throwIfAborted()
    const { stepType, stepId = nextId(), parentStepId = null, content } = options
    if (used.has(stepId)) throw overStep(stepId, sessionId)
    used.add(stepId)
    // A session that is taken up again may use its ids once more: what stands under them is another attempt.
    const attempt = found && options.stepId !== undefined ? firstEpoch : 1
    const step: OpenStep = { stepId, attempt }
    const started = event(
      'execution.step_started',
      {
        ...step,
        name: stepType,
        kind: stepType,
        ...(parentStepId !== null && { parentStepId }),
        ...(content !== undefined && { input: { content } }),
      },
      // A step inside another one is led to by that one.
      (parentStepId !== null && startIds.get(parentStepId)) || startId,
    )
    await append([started])
    startIds.set(stepId, started.eventId)
    lastId = started.eventId
    open.set(stepId, step)
    return createStep(step, stepType, content)
  }

  function createStep(step: OpenStep, stepType: string, content: Content | undefined): ActiveStep {
    const { stepId } = step
    const report = (so: Content): void => writer.report({ runId: sessionId, ...step, stepType, content: so })
    const isOpen = (): boolean => !ending && open.has(stepId) && !closing.has(stepId)
    // Reported at once, so that a page shows it on first load, too.
    if (content !== undefined) report(content)

    async function finish(eventType: string, payload: Record<string, unknown>): Promise<void> {
      if (!isOpen()) throw overStep(stepId, sessionId)
      closing.add(stepId)
      try {
        const ended = event(eventType, { ...step, ...payload }, startIds.get(stepId))
        await append([ended])
        lastId = ended.eventId
        open.delete(stepId)
      } finally {
        closing.delete(stepId)
      }
      await writer.end({ runId: sessionId, ...step })
    }

    return {
      stepId,
      progress({ content: so }) {
        if (isOpen()) report(so)
      },
      complete: (completion = {}) => finish('execution.step_completed', { output: toOutput(completion) }),
      fail: (error) => finish('execution.step_failed', { error: toErrorPayload(error) }),
      stop: (completion = {}) =>
        finish('execution.step_completed', { output: toOutput(completion), partial: true }),
    }
  }

  const endOf = (error: unknown): Promise<void> =>
    stopped ? trace.notifyStopped() : trace.notifyFailed(error instanceof Error ? error : String(error))

  const trace: SessionTrace = {
    workspaceId,
    streamId,
    sessionId,
    signal: abort.signal,
    startStep,
    notifyCompleted: () => end('execution.step_stopped', 'system.workflow_completed', {}),
    // An error that only says why no step was begun is no failure of the session.
    notifyFailed: (error) =>
      stopped && error === abort.signal.reason
        ? trace.notifyStopped()
        : end('execution.step_failed', 'system.workflow_failed', { error: toErrorPayload(error) }),
    notifyStopped: (reason = stopped?.reason ?? 'called off') =>
      end('execution.step_stopped', 'system.workflow_stopped', { reason }),
    notifyInterrupted: (reason = 'given up') =>
      end('execution.step_interrupted', 'system.workflow_interrupted', { reason }),
    async withSession(fn) {
      try {
        const result = await fn(trace)
        if (!ending) await (stopped ? trace.notifyStopped() : trace.notifyCompleted())
        await ending
        return result
      } catch (error) {
        // The caller needs the error of its own code, not that the end could not be written either.
        if (!ending && !lost) await endOf(error).catch(() => undefined)
        throw error
      } finally {
        onEnd()
      }
    },
  }
  return { trace, beat, stop }
}
