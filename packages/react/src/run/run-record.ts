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
import { NO_TEXTS, type StepTexts, withNotes, withoutEnded } from './step-texts.ts'
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
  /** What steps at work have said so far. */
  readonly texts: StepTexts
  /**
   * The run has very many steps: what steps say by their input and output alone is not among the entries, and is read
   * where it is wanted.
   */
  readonly isBrief: boolean
  /** All that was there when it was opened has been read. */
  readonly complete: boolean
  readonly lastSeq: number
  /** Events that were there are gone. */
  readonly hasGaps: boolean
  readonly link: LinkState
  readonly error: RequestError | Error | null
}

/** Before anything is known of it. */
export const UNREAD: RunView = {
  run: null,
  owner: null,
  entries: [],
  steps: [],
  texts: NO_TEXTS,
  isBrief: false,
  complete: false,
  lastSeq: 0,
  hasGaps: false,
  link: 'connecting',
  error: null,
}

export interface RunRecord {
  get(): RunView
  subscribe(listener: () => void): () => void
  close(): void
}

/** What a first screen needs comes with the first answer. */
const FIRST_STEPS = 200
const FIRST_EVENTS = 100
/** A page takes a few milliseconds to read and to draw, so that nothing has to wait for it. */
const STEPS_AT_ONCE = 2000
const EVENTS_AT_ONCE = 1000
/** While much is read, what came is shown this often, and less often the more there is. */
const SHOW_MS = 150
const SHOWN_PER_MS = 200
/** Telling it all takes no more than a tenth of the time. */
const SHOW_SHARE = 10
const LOOK_AGAIN_MS = 400
const RETRY_MS = { least: 500, most: 5000 }
/** Above this many steps, what the transcript tells of steps by their input and output is read when it is looked at. */
const MANY_STEPS = 5000

/** What is told in a transcript of a run with very many steps. */
const TOLD = [
  'system.workflow_started',
  'system.workflow_paused',
  'system.workflow_resumed',
  'system.workflow_interrupted',
  'system.workflow_blocked',
  'system.workflow_forked',
  'system.workflow_completed',
  'system.workflow_failed',
  'system.workflow_stopped',
  'execution.message',
  'execution.reasoning',
  'execution.tool_call',
  'execution.tool_result',
  'execution.tool_error',
  'execution.structured_output',
  'execution.handoff',
  'execution.completed',
  'execution.step_failed',
  'ui.message_created',
  'ui.message_edited',
  'ui.output_displayed',
  'ui.input_requested',
  'ui.input_received',
]

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
  let view = UNREAD
  /** What was read, and is shown with the next change. */
  let texts = NO_TEXTS
  let lastSeq = 0
  let output: ClewEvent['payload'][string]
  let toldSeq = 0
  let isTold = true
  let trying = new AbortController()
  let shownMs = Number.NEGATIVE_INFINITY
  let waitMs = 0
  let showing: ReturnType<typeof setTimeout> | undefined
  let unfollow: (() => void) | undefined
  let looking: ReturnType<typeof setTimeout> | undefined

  function change(next: Partial<RunView>): void {
    if (closed.signal.aborted) return
    view = { ...view, ...next }
    for (const listener of listeners) listener()
  }

  /** Shows what was read: at once if it was shown long ago, else in a while. */
  function show(): void {
    const dueMs = shownMs + waitMs - performance.now()
    if (dueMs > 0) showing ??= setTimeout(showNow, dueMs)
    else showNow()
  }

  function showNow(more: Partial<RunView> = {}): void {
    clearTimeout(showing)
    showing = undefined
    const beganMs = performance.now()
    const entries = isTold ? view.entries : transcriptFold.view(transcript).entries
    isTold = true
    change({ entries, steps: steps.list(), texts, lastSeq, ...more })
    shownMs = performance.now()
    const readingMs = view.complete ? 0 : Math.max(SHOW_MS, steps.count() / SHOWN_PER_MS)
    waitMs = Math.max(readingMs, (shownMs - beganMs) * SHOW_SHARE)
  }

  interface Shown {
    readonly run: RunSummary
    readonly owner: RunOwner | null
    readonly steps: readonly StepSkeleton[]
    readonly moreSteps: number
  }

  async function look(most: number): Promise<Shown> {
    const shown = await client.get<Shown>(path, { steps: most }, trying.signal)
    change({ run: shown.run, owner: shown.owner })
    return shown
  }

  /** The run with its first steps; gives the event after which those begin that did not come, null when all did. */
  async function readFirst(): Promise<number | null> {
    const { run, steps: first, moreSteps } = await look(FIRST_STEPS)
    lastSeq = (run.forkedFrom?.seq ?? 0) + run.events
    // A fork's own steps stand behind those that it shares, which did not come with it.
    change({ isBrief: run.steps > MANY_STEPS })
    if (run.forkedFrom) return 0
    for (const step of first) steps.put(step)
    showNow()
    return moreSteps === 0 ? null : (first.at(-1)?.startedSeq ?? 0)
  }

  async function readSteps(after: number): Promise<void> {
    interface Page {
      readonly steps: readonly StepSkeleton[]
      readonly nextCursor: string | null
    }
    const ask = (cursor: string | null): Promise<Page> | null =>
      cursor === null
        ? null
        : client.get<Page>(`${path}/steps`, { limit: STEPS_AT_ONCE, cursor }, trying.signal)
    for (let asked = ask(String(after)); asked !== null; ) {
      const page: Page = await asked
      // The server works on the next one while this one is taken in.
      asked = ask(page.nextCursor)
      asked?.catch(() => undefined)
      for (const step of page.steps) steps.put(step)
      show()
    }
  }

  /** Whether there are more: a page may end before its limit, where events are large. */
  async function readEvents(limit: number, types?: readonly string[]): Promise<boolean> {
    interface Page {
      readonly events: readonly WireEvent[]
      readonly nextCursor: string | null
    }
    const { signal } = trying
    const query = { afterSeq: toldSeq, limit, types }
    const { events, nextCursor } = await client.get<Page>(`${path}/events`, query, signal)
    signal.throwIfAborted()
    for (const wire of events) {
      // Seqs are dense: where one is missing, retention was at work.
      if (types === undefined && wire.ledger.seq !== toldSeq + 1) change({ hasGaps: true })
      tell(fromWire(wire))
      toldSeq = wire.ledger.seq
    }
    show()
    return nextCursor !== null
  }

  async function readTranscript(types: readonly string[] | undefined): Promise<void> {
    while (await readEvents(EVENTS_AT_ONCE, types));
  }

  function tell(event: ClewEvent): void {
    const { eventType, payload } = event
    if (eventType === 'execution.completed') output = payload.output
    // What the agent gave is shown where its run ends.
    const isEnd = eventType === 'system.workflow_completed' && payload.output === undefined
    const told = isEnd && output !== undefined ? { ...event, payload: { ...payload, output } } : event
    transcript = transcriptFold.apply(transcript, told)
    isTold = false
  }

  function take(events: readonly ClewEvent[]): void {
    for (const event of events) {
      if (event.ledger.seq > toldSeq) tell(event)
      steps.take(event)
    }
    texts = withoutEnded(texts, events)
    lastSeq = events.at(-1)?.ledger.seq ?? lastSeq
    show()
    looking ??= setTimeout(lookAgain, LOOK_AGAIN_MS)
  }

  function lookAgain(): void {
    looking = undefined
    // A server that is away is told by the link, and looked at again when it is back.
    look(0).catch((error: unknown) => isRequestError(error) && fail(error))
  }

  function fail(error: unknown): void {
    if (!closed.signal.aborted) change({ error: error instanceof Error ? error : new Error(String(error)) })
  }

  async function open(): Promise<void> {
    const [afterSteps] = await Promise.all([readFirst(), readEvents(FIRST_EVENTS)])
    await Promise.all([
      afterSteps === null ? undefined : readSteps(afterSteps),
      toldSeq < lastSeq ? readTranscript(view.isBrief ? TOLD : undefined) : undefined,
    ])
    showNow({ complete: true, error: null })
    if (closed.signal.aborted) return
    unfollow = follow(client, {
      path: `${path}/follow`,
      after: lastSeq,
      by: 'seq',
      onEvents: take,
      onProgress(notes) {
        texts = withNotes(texts, notes, steps.find)
        show()
      },
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
        trying.abort()
        trying = new AbortController()
        transcript = transcriptFold.begin()
        toldSeq = 0
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
      trying.abort()
      clearTimeout(looking)
      clearTimeout(showing)
      unfollow?.()
    },
  }
}
