import {
  type ClewEvent,
  fromWire,
  type RunSummary,
  type StepSkeleton,
  type TranscriptEntry,
  transcriptFold,
  type WireEvent,
} from '@clew/ledger'
import { type Client, isRequestError, type RequestError, runPath } from '../client/client.ts'
import { follow, type LinkState } from '../client/follow.ts'
import { createSteps } from './steps-in-order.ts'

export interface RunOwner {
  readonly owner: string
  readonly state: 'alive' | 'stale' | 'dead'
  readonly heartbeatAt: string
}

/** A run as far as it is known here; each change gives a new one. */
export interface RunView {
  readonly run: RunSummary | null
  readonly owner: RunOwner | null
  readonly entries: readonly TranscriptEntry[]
  /** In the order of their start. */
  readonly steps: readonly StepSkeleton[]
  /** All that was there when it was opened has been read. */
  readonly complete: boolean
  readonly lastSeq: number
  readonly link: LinkState
  readonly error: RequestError | Error | null
}

export interface RunRecord {
  get(): RunView
  subscribe(listener: () => void): () => void
  close(): void
}

const STEPS_AT_ONCE = 5000
const EVENTS_AT_ONCE = 1000
const LOOK_AGAIN_MS = 400
const RETRY_MS = { least: 500, most: 5000 }
/** Above this many steps, those events are left out of which the transcript would tell nothing but child runs. */
const MANY_STEPS = 5000

/** What is told in a transcript of a run with very many steps. */
const TOLD =
  'system.workflow_started,system.workflow_paused,system.workflow_resumed,system.workflow_interrupted,system.workflow_blocked,system.workflow_forked,system.workflow_completed,system.workflow_failed,system.workflow_stopped,execution.message,execution.reasoning,execution.tool_call,execution.tool_result,execution.tool_error,execution.structured_output,execution.handoff,execution.step_failed,ui.message_created,ui.message_edited,ui.output_displayed,ui.input_requested,ui.input_received'.split(
    ',',
  )

/**
 * One run, read and then followed: its summary, the skeleton of its steps, and the events that make its transcript,
 * folded by the code that folds them everywhere else.
 */
export function openRunRecord(client: Client, runId: string): RunRecord {
  const path = runPath(runId)
  const listeners = new Set<() => void>()
  const closed = new AbortController()
  const steps = createSteps()
  let transcript = transcriptFold.begin()
  let view: RunView = {
    run: null,
    owner: null,
    entries: [],
    steps: [],
    complete: false,
    lastSeq: 0,
    link: 'connecting',
    error: null,
  }
  let toldSeq = 0
  let unfollow: (() => void) | undefined
  let looking: ReturnType<typeof setTimeout> | undefined

  function change(next: Partial<RunView>): void {
    if (closed.signal.aborted) return
    view = { ...view, ...next }
    for (const listener of listeners) listener()
  }

  async function look(): Promise<RunSummary> {
    interface Shown {
      readonly run: RunSummary
      readonly owner: RunOwner | null
    }
    const { run, owner } = await client.get<Shown>(path, { steps: 0 }, closed.signal)
    change({ run, owner })
    return run
  }

  async function readSteps(): Promise<void> {
    interface Page {
      readonly steps: readonly StepSkeleton[]
      readonly nextCursor: string | null
    }
    let shown = 0
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Page = await client.get(`${path}/steps`, { limit: STEPS_AT_ONCE, cursor }, closed.signal)
      for (const step of page.steps) steps.put(step)
      cursor = page.nextCursor
      // Drawing costs as much as there is: shown whenever it has doubled, all of it is drawn no more than twice over.
      if (cursor === null || steps.count() >= shown * 2) {
        shown = steps.count()
        change({ steps: steps.list() })
      }
    }
  }

  async function readTranscript(types: readonly string[] | undefined): Promise<void> {
    for (let afterSeq = 0; ; ) {
      const query = { afterSeq, limit: EVENTS_AT_ONCE, types }
      const { events } = await client.get<{ events: WireEvent[] }>(`${path}/events`, query, closed.signal)
      for (const wire of events) {
        const event = fromWire(wire)
        transcript = transcriptFold.apply(transcript, event)
        afterSeq = event.ledger.seq
        toldSeq = afterSeq
      }
      change({ entries: transcriptFold.view(transcript).entries })
      if (events.length < EVENTS_AT_ONCE) return
    }
  }

  function take(events: readonly ClewEvent[]): void {
    for (const event of events) {
      if (event.ledger.seq > toldSeq) transcript = transcriptFold.apply(transcript, event)
      steps.take(event)
    }
    change({
      entries: transcriptFold.view(transcript).entries,
      steps: steps.list(),
      lastSeq: events.at(-1)?.ledger.seq ?? view.lastSeq,
    })
    looking ??= setTimeout(lookAgain, LOOK_AGAIN_MS)
  }

  function lookAgain(): void {
    looking = undefined
    // A server that is away is told by the link, and looked at again when it is back.
    look().catch((error: unknown) => isRequestError(error) && fail(error))
  }

  function fail(error: unknown): void {
    if (!closed.signal.aborted) change({ error: error instanceof Error ? error : new Error(String(error)) })
  }

  async function open(): Promise<void> {
    const run = await look()
    const lastSeq = (run.forkedFrom?.seq ?? 0) + run.events
    change({ lastSeq })
    await Promise.all([readSteps(), readTranscript(run.steps > MANY_STEPS ? TOLD : undefined)])
    change({ complete: true, error: null })
    if (closed.signal.aborted) return
    unfollow = follow(client, {
      path: `${path}/follow`,
      after: lastSeq,
      by: 'seq',
      onEvents: take,
      onState(link) {
        if (link === 'live' && view.link === 'broken') lookAgain()
        change({ link })
      },
    })
  }

  /** A server that is not there yet, or died meanwhile, is asked again; one that refuses is not. */
  async function keepOpening(): Promise<void> {
    for (let waitMs = RETRY_MS.least; !closed.signal.aborted; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
      try {
        return await open()
      } catch (error) {
        fail(error)
        if (isRequestError(error) && error.status < 500) return
        change({ link: 'broken' })
        transcript = transcriptFold.begin()
        await new Promise((resolve) => setTimeout(resolve, waitMs))
      }
    }
  }

  void keepOpening()
  return {
    get: () => view,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {
      closed.abort()
      clearTimeout(looking)
      unfollow?.()
    },
  }
}
