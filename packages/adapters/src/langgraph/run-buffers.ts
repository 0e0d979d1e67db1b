import type { Ledger, RunSummary } from '@clew/ledger'
import { toConflict } from './conflict.ts'
import { flush, type RunBuffer, openLine, type LedgerWatermark } from './run-buffer.ts'
import type { LineReader } from './read-line.ts'
import { holdsOpaque, type SavedCheckpoint, type Saved } from './saved.ts'
import { findEvent, type SpaceNames, threadNames } from './namespace-key.ts'

const MAX_LINES = 16
const MAX_PLACES = 4096
/** Runs of a thread among which the newest checkpoint is looked for. */
const NEWEST_RUNS = 20

export interface LinesParts {
  readonly ledger: Ledger
  readonly watermark: LedgerWatermark
  readonly reader: LineReader
  readonly names: SpaceNames
  readonly thread: string
  readonly threadName: string
  readonly now?: (() => number) | undefined
}

/** The lines of a space that are written here, and where its other checkpoints are. */
export interface RunBuffers {
  readonly isEmpty: boolean
  get(runId: string): RunBuffer | undefined
  remember(line: RunBuffer): void
  forget(line: RunBuffer): void
  note(saved: Saved): void
  knows(checkpointId: string): boolean
  /** Lines that were left running by an invocation that is aborted. */
  aborted(): RunBuffer[]
  /** The line with the newest checkpoint. */
  newest(): RunBuffer | undefined
  /** The line with this checkpoint at its end, one that may go on before one that may not; throws what it failed with. */
  at(checkpointId: string): RunBuffer | undefined
  /** Waits for what is under way; what could not be written is forgotten, and then it is false. */
  settle(): Promise<boolean>
  /** Learns what others wrote. */
  refresh(): Promise<void>
  find(checkpointId: string): Promise<Saved | null>
  /** The head of a line as every reader gets it. */
  headOf(line: RunBuffer): Promise<Saved | null> | Saved | null
  /** The line that has this checkpoint as its head and may go on; undefined when something else went on from it. */
  openAt(saved: Saved): Promise<RunBuffer | undefined>
}

export function createRunBuffers(parts: LinesParts): RunBuffers {
  const { ledger, reader, names } = parts
  const lines = new Map<string, RunBuffer>()
  /** The newest, and as many before them: single ones are not taken out, since that makes a map slow. */
  let places = new Map<string, SavedCheckpoint>()
  let olderPlaces: ReadonlyMap<string, SavedCheckpoint> = new Map()

  function newest(): RunBuffer | undefined {
    let found: RunBuffer | undefined
    for (const line of lines.values())
      if (line.hasOwn && line.head && (!found?.head || line.head.id > found.head.id)) found = line
    return found
  }

  function remember(line: RunBuffer): void {
    if (lines.size === 1 && lines.has(line.runId)) return void lines.set(line.runId, line)
    lines.delete(line.runId)
    lines.set(line.runId, line)
    if (lines.size <= MAX_LINES) return
    const kept = newest()
    for (const [runId, each] of lines) {
      if (lines.size <= MAX_LINES) break
      if (each !== kept) lines.delete(runId)
    }
  }

  function note({ id, runId, seq }: Saved): void {
    places.set(id, { runId, seq })
    if (places.size < MAX_PLACES / 2) return
    olderPlaces = places
    places = new Map()
  }

  function at(checkpointId: string): RunBuffer | undefined {
    let closed: RunBuffer | undefined
    for (const line of lines.values())
      if (line.head?.id === checkpointId) {
        if (line.failure !== undefined) throw toConflict(line.failure, parts.thread)
        if (!line.isClosed) return line
        closed = line
      }
    return closed
  }

  async function settle(): Promise<boolean> {
    let isSound = true
    for (const line of lines.values()) {
      flush(parts, line)
      if (line.pending.size > 0) await Promise.allSettled(line.pending)
      if (line.failure === undefined) continue
      lines.delete(line.runId)
      places = new Map()
      olderPlaces = new Map()
      isSound = false
    }
    return isSound
  }

  /** Newest first, until one has a checkpoint of its own. */
  async function newestRuns(): Promise<RunSummary[]> {
    const found: RunSummary[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await ledger.listRuns({ threadId: threadNames(parts.thread), limit: NEWEST_RUNS, cursor })
      for (const run of page.runs) if (run.runId.startsWith(names.prefix)) found.push(run)
      cursor = page.nextCursor ?? undefined
      if (cursor === undefined || found.some(hasOwnCheckpoint)) return found
    }
  }

  async function load(run: RunSummary): Promise<RunBuffer | undefined> {
    const place = run.checkpoint && { runId: run.runId, seq: run.checkpoint.seq }
    const head = place && (await reader.at(place))
    if (!head) return undefined
    const line = openLine(run.runId, {
      seq: (run.forkedFrom?.seq ?? 0) + run.events,
      events: run.events,
      head,
      hasOwn: hasOwnCheckpoint(run),
      status: run.status,
      isExact: !holdsOpaque(head),
      pauses: new Map(run.pauses.map(({ pauseId, stepId }) => [pauseId, stepId ?? ''])),
    })
    for (const { stepId, attempt, superstep, endedSeq } of await ledger.getSkeleton(run.runId))
      if (superstep > head.superstep) line.steps.set(stepId, { attempt, isOpen: endedSeq === null })
    remember(line)
    note(head)
    return line
  }

  async function findPlace(checkpointId: string): Promise<SavedCheckpoint | undefined> {
    const known = places.get(checkpointId) ?? olderPlaces.get(checkpointId)
    if (known) return known
    const event = await findEvent(ledger, names, checkpointId)
    return event && { runId: event.correlationId, seq: event.ledger.seq }
  }

  const headOf = (line: RunBuffer): Promise<Saved | null> | Saved | null =>
    line.isExact ? line.head : line.head && reader.at(line.head)

  /** A fork that so far has only writes for the checkpoint it begins with. */
  const waitingFork = (checkpointId: string): RunBuffer | undefined =>
    [...lines.values()].findLast((line) => !line.hasOwn && line.head?.id === checkpointId)

  return {
    get isEmpty() {
      return lines.size === 0
    },
    get: (runId) => lines.get(runId),
    remember,
    forget: (line) => void lines.delete(line.runId),
    note,
    knows: (checkpointId) => places.has(checkpointId) || olderPlaces.has(checkpointId),
    aborted: () =>
      [...lines.values()].filter(
        ({ signal, status, hasOwn, isClosed, failure }) =>
          signal?.aborted && status === 'running' && hasOwn && !isClosed && failure === undefined,
      ),
    newest,
    at,
    settle,
    headOf,
    async refresh() {
      await settle()
      if (lines.size === 0 && !(await ledger.getRun(names.runId('first', '')))) return
      let best: RunSummary | undefined
      for (const run of await newestRuns()) {
        if (lines.get(run.runId)?.events !== run.events) lines.delete(run.runId)
        if (!hasOwnCheckpoint(run)) {
          // A fork that waits for its first checkpoint: what was put for the one it begins with is there.
          if (run.forkedFrom && !lines.has(run.runId)) await load(run)
        } else if (!best?.checkpoint || (run.checkpoint?.id ?? '') > best.checkpoint.id) best = run
      }
      if (best && !lines.has(best.runId)) await load(best)
    },
    async find(checkpointId) {
      const line = at(checkpointId)
      const place = line?.hasOwn ? undefined : await findPlace(checkpointId)
      const saved = line?.hasOwn ? await headOf(line) : place ? await reader.at(place) : null
      if (!saved) return null
      note(saved)
      const more = waitingFork(checkpointId)?.head?.writes ?? []
      return more.length > 0 ? { ...saved, writes: [...saved.writes, ...more] } : saved
    },
    async openAt(saved) {
      const hot = at(saved.id)
      if (hot) return hot.isClosed ? undefined : hot
      const run = await ledger.getRun(saved.runId)
      if (!run || run.checkpoint?.seq !== saved.seq || lines.has(saved.runId)) return undefined
      if (await ledger.getRun(names.runId('turn', saved.id))) return undefined
      return load(run)
    },
  }
}

const hasOwnCheckpoint = ({ checkpoint, forkedFrom }: RunSummary): boolean =>
  checkpoint !== null && (forkedFrom === null || checkpoint.seq > forkedFrom.seq)
