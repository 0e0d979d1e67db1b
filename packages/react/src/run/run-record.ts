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
import { createLiveRun } from './live-run.ts'
import { NO_TEXTS, type StepTexts, withNotes, withoutEnded } from './step-texts.ts'

export interface RunOwner {
  readonly owner: string
  readonly state: 'alive' | 'stale' | 'dead'
  readonly heartbeatAt: string
}

/** A run as far as it has been read; each change gives a new one. */
export interface RunView {
  readonly run: RunSummary | null
  readonly owner: RunOwner | null
  readonly entries: readonly TranscriptEntry[]
  /** In the order of their start. */
  readonly steps: readonly StepSkeleton[]
  /** The text so far of steps that are running. */
  readonly texts: StepTexts
  /**
   * The run has more than 5,000 steps: the entries leave out what a transcript shows of a step's input and output. That
   * is read when the step's row is shown.
   */
  readonly isBrief: boolean
  /** Everything that was recorded when the run was opened has been read. */
  readonly complete: boolean
  readonly lastSeq: number
  /** Some events were deleted by the retention policy. */
  readonly hasGaps: boolean
  readonly link: LinkState
  readonly error: RequestError | Error | null
}

/** The view before the first answer. */
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

/** Sizes of the first answers: enough for a first screen. */
const FIRST_STEPS = 200
const FIRST_EVENTS = 100
/** Sizes of later pages: each takes a few milliseconds to read and to draw. */
const STEPS_AT_ONCE = 2000
const EVENTS_AT_ONCE = 1000
/** While pages are read, the view changes this often, and less often the more steps there are. */
const SHOW_MS = 150
const SHOWN_PER_MS = 200
/** Computing views takes at most a tenth of the time. */
const SHOW_SHARE = 10
/** Delay before the owner is read: a process releases its lease shortly after the event with which it stops. */
const READ_OWNER_MS = 400
const RETRY_MS = { least: 500, most: 5000 }
/** Above this many steps the view is brief (`RunView.isBrief`). */
const MANY_STEPS = 5000

/** A brief view reads these events when the row of their step is shown. */
const READ_WITH_STEP: ReadonlySet<string> = new Set(['execution.step_started', 'execution.step_completed'])
const BRIEF_TYPES = transcriptFold.types.filter((type) => !READ_WITH_STEP.has(type))

/**
 * One run, read and then followed: its summary, its steps and its transcript, each continued with every new event by the
 * fold that is used everywhere else. Only the owner is no part of the record: it is read again when the run starts,
 * stops or is resumed.
 */
export function openRunRecord(client: Client, runId: string): RunRecord {
  const path = runPath(runId)
  const listeners = new Set<() => void>()
  const closed = new AbortController()
  const live = createLiveRun()
  let transcript = transcriptFold.begin()
  /** Seq of the last event in the transcript, and whether the view has its entries. */
  let transcriptSeq = 0
  let isTranscriptShown = true
  let texts = NO_TEXTS
  let view = UNREAD
  let opening = new AbortController()
  let shownMs = Number.NEGATIVE_INFINITY
  let waitMs = 0
  let showTimer: ReturnType<typeof setTimeout> | undefined
  let ownerTimer: ReturnType<typeof setTimeout> | undefined
  let unfollow: (() => void) | undefined

  function change(next: Partial<RunView>): void {
    if (closed.signal.aborted) return
    view = { ...view, ...next }
    for (const listener of listeners) listener()
  }

  /** Shows what was read and folded: immediately, or later if the view changed a short time ago. */
  function show(): void {
    const dueMs = shownMs + waitMs - performance.now()
    if (dueMs > 0) showTimer ??= setTimeout(showNow, dueMs)
    else showNow()
  }

  function showNow(more: Partial<RunView> = {}): void {
    clearTimeout(showTimer)
    showTimer = undefined
    const beganMs = performance.now()
    const entries = isTranscriptShown ? view.entries : transcriptFold.view(transcript).entries
    isTranscriptShown = true
    const steps = live.steps()
    change({ run: live.run(), entries, steps, texts, lastSeq: live.seq(), ...more })
    shownMs = performance.now()
    const readingMs = view.complete ? 0 : Math.max(SHOW_MS, steps.length / SHOWN_PER_MS)
    waitMs = Math.max(readingMs, (shownMs - beganMs) * SHOW_SHARE)
  }

  interface Shown {
    readonly run: RunSummary
    readonly owner: RunOwner | null
    readonly steps: readonly StepSkeleton[]
    readonly moreSteps: number
  }

  const readRun = (steps: number): Promise<Shown> => client.get<Shown>(path, { steps }, opening.signal)

  /** Reads the run with its first steps. Returns the seq after which the missing steps begin, null if there are none. */
  async function readFirst(): Promise<number | null> {
    const { run, owner, steps, moreSteps } = await readRun(FIRST_STEPS)
    live.begin(run)
    const isBrief = run.steps > MANY_STEPS
    if (run.forkedFrom) {
      // The answer has the fork's own steps only; those that it shares with its source come before them.
      showNow({ owner, isBrief })
      return 0
    }
    for (const step of steps) live.putStep(step)
    showNow({ owner, isBrief })
    return moreSteps === 0 ? null : (steps.at(-1)?.startedSeq ?? 0)
  }

  async function readSteps(after: number): Promise<void> {
    interface Page {
      readonly steps: readonly StepSkeleton[]
      readonly nextCursor: string | null
    }
    const ask = (cursor: string | null): Promise<Page> | null =>
      cursor === null
        ? null
        : client.get<Page>(`${path}/steps`, { limit: STEPS_AT_ONCE, cursor }, opening.signal)
    for (let asked = ask(String(after)); asked !== null; ) {
      const page: Page = await asked
      // The server reads the next page while this one is put in.
      asked = ask(page.nextCursor)
      asked?.catch(() => undefined)
      for (const step of page.steps) live.putStep(step)
      show()
    }
  }

  /** Reads one page of events. Returns whether there are more: a page of large events ends before its limit. */
  async function readEvents(limit: number, types?: readonly string[]): Promise<boolean> {
    interface Page {
      readonly events: readonly WireEvent[]
      readonly nextCursor: string | null
    }
    const { signal } = opening
    const query = { afterSeq: transcriptSeq, limit, types }
    const { events, nextCursor } = await client.get<Page>(`${path}/events`, query, signal)
    signal.throwIfAborted()
    for (const wire of events) {
      // Seqs are dense: a missing one was deleted by the retention policy.
      if (types === undefined && wire.ledger.seq !== transcriptSeq + 1) change({ hasGaps: true })
      addToTranscript(fromWire(wire))
    }
    show()
    return nextCursor !== null
  }

  async function readTranscript(types: readonly string[] | undefined): Promise<void> {
    while (await readEvents(EVENTS_AT_ONCE, types));
  }

  function addToTranscript(event: ClewEvent): void {
    transcript = transcriptFold.apply(transcript, event)
    transcriptSeq = event.ledger.seq
    isTranscriptShown = false
  }

  function onEvents(events: readonly ClewEvent[]): void {
    for (const event of events) {
      if (event.ledger.seq > transcriptSeq) addToTranscript(event)
      live.apply(event)
    }
    texts = withoutEnded(texts, events)
    show()
    if (events.some(({ eventType }) => eventType.startsWith('system.'))) readOwnerSoon()
  }

  function readOwnerSoon(): void {
    ownerTimer ??= setTimeout(() => {
      ownerTimer = undefined
      // If the server is away, the link shows it, and the owner is read when the link is back.
      refresh().catch((error: unknown) => isRequestError(error) && fail(error))
    }, READ_OWNER_MS)
  }

  async function refresh(): Promise<void> {
    const { run, owner } = await readRun(0)
    live.refresh(run)
    change({ run: live.run(), owner })
  }

  function fail(error: unknown): void {
    if (!closed.signal.aborted) change({ error: error instanceof Error ? error : new Error(String(error)) })
  }

  async function open(): Promise<void> {
    const [afterSteps] = await Promise.all([readFirst(), readEvents(FIRST_EVENTS)])
    await Promise.all([
      afterSteps === null ? undefined : readSteps(afterSteps),
      transcriptSeq < live.seq() ? readTranscript(view.isBrief ? BRIEF_TYPES : undefined) : undefined,
    ])
    // Steps were read after the summary and may contain later events: this summary is no older than the steps.
    if (live.run()?.endedAt === null) await refresh()
    showNow({ complete: true, error: null })
    if (closed.signal.aborted) return
    unfollow = follow(client, {
      path: `${path}/follow`,
      after: live.seq(),
      by: 'seq',
      onEvents,
      onProgress(notes) {
        texts = withNotes(texts, notes, live.findStep)
        show()
      },
      onState(link) {
        if (link === 'live' && view.link === 'broken') readOwnerSoon()
        change({ link })
      },
    })
  }

  /** Tries again while the server is away or fails; a refusal is final. */
  async function keepOpening(): Promise<void> {
    for (
      let retryMs = RETRY_MS.least;
      !closed.signal.aborted;
      retryMs = Math.min(retryMs * 2, RETRY_MS.most)
    ) {
      try {
        return await open()
      } catch (error) {
        fail(error)
        if (isRequestError(error) && error.status < 500) return
        change({ link: 'broken' })
        opening.abort()
        opening = new AbortController()
        transcript = transcriptFold.begin()
        transcriptSeq = 0
        await new Promise((resolve) => setTimeout(resolve, retryMs))
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
      opening.abort()
      clearTimeout(ownerTimer)
      clearTimeout(showTimer)
      unfollow?.()
    },
  }
}
