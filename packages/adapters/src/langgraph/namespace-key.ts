import { hash } from 'node:crypto'
import { ClewError, type ClewEvent, createDeriver, isUuid, type Ledger } from '@clew/ledger'
import type { RunnableConfig } from '@langchain/core/runnables'

const sha256 = (text: string): string => hash('sha256', text)

/** One namespace of one thread: checkpoints of different spaces never mix. */
export interface NamespaceKey {
  readonly thread: string
  readonly ns: string
}

export interface ReadConfig extends NamespaceKey {
  readonly checkpointId: string | undefined
}

const EXAMPLE = 'graph.invoke(input, { configurable: { thread_id: "my-thread" } })'
const MAX_ID = 4096

/** Reads a config; undefined without a thread. */
export function readConfig(config: RunnableConfig): ReadConfig | undefined {
  const { thread_id, checkpoint_ns, checkpoint_id, thread_ts } = config.configurable ?? {}
  if (thread_id === undefined || thread_id === null) return undefined
  const id: unknown = checkpoint_id || thread_ts || undefined
  return {
    thread: readId('thread_id', typeof thread_id === 'number' ? String(thread_id) : thread_id),
    ns:
      checkpoint_ns === undefined || checkpoint_ns === null
        ? ''
        : readId('checkpoint_ns', checkpoint_ns, true),
    checkpointId: id === undefined ? undefined : readId('checkpoint_id', id),
  }
}

export function requireConfig(config: RunnableConfig, what: string): ReadConfig {
  const read = readConfig(config)
  if (read) return read
  throw new ClewError(
    'bad_option',
    `The config of ${what} has no thread_id`,
    `Name the thread, for example ${EXAMPLE}.`,
    {
      field: 'configurable.thread_id',
    },
  )
}

export function readId(field: string, value: unknown, mayBeEmpty = false): string {
  if (
    typeof value === 'string' &&
    value.length <= MAX_ID &&
    value.isWellFormed() &&
    (mayBeEmpty || value !== '')
  )
    return value
  const found =
    typeof value !== 'string'
      ? `of type ${value === null ? 'null' : typeof value}`
      : `text of ${value.length} characters`
  throw new ClewError(
    'bad_option',
    `The ${field} of the config is ${found}`,
    `It must be well-formed text of ${mayBeEmpty ? 0 : 1} to ${MAX_ID} characters; nothing was written.`,
    { field },
  )
}

const PLAIN_ID = /^[\w.:-]{1,120}$/
/** Looks like a card or a telephone number, which redaction may take out. */
const LONG_NUMBER = /\d[\d.:-]{10,}\d/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const hashedName = (thread: string): string => `thread-${sha256(thread).slice(0, 32)}`

/** The thread's name in the ledger: its own where that is a plain name which no redaction touches, else a hash of it. */
export function threadName(ledger: Ledger, thread: string): string {
  const isPlain = UUID.test(thread) || (PLAIN_ID.test(thread) && !LONG_NUMBER.test(thread))
  return isPlain && ledger.identity(thread).stored === thread ? thread : hashedName(thread)
}

/** The names under which the record may have it, whatever the redaction rules were. */
export const threadNames = (thread: string): readonly string[] => [thread, hashedName(thread)]

/** Names of one space: whatever the ids hold, a run id is short and plain. `life` counts how often the thread was deleted. */
export interface SpaceNames {
  /** All runs of the space begin with it, and no others do. */
  readonly prefix: string
  runId(kind: 'first' | 'turn' | 'root' | 'fork', id: string): string
  /** The event that begins a run. */
  startId(runId: string): string
  /** The event that carries this checkpoint. */
  eventId(checkpointId: string): string
  /** Ids that it may have, that of earlier versions of Clew last. */
  eventIds(checkpointId: string): readonly string[]
}

export const PREFIX = 'lg-'

export function spaceNames({ thread, ns }: NamespaceKey, life: number): SpaceNames {
  const prefix = `${PREFIX}${sha256(JSON.stringify([thread, ns, life])).slice(0, 12)}-`
  const derive = createDeriver(sha256, prefix)
  const own = sha256(prefix)
  const [first, last] = [hexNumber(own.slice(0, 8)), hexNumber(own.slice(8, 16))]
  const hashed = (checkpointId: string): string => derive(nearness(checkpointId), checkpointId)

  // No two checkpoints of a space get the same, and neighbours stay neighbours; a hash of it took five times as long.
  const eventId = (checkpointId: string): string =>
    isUuid(checkpointId) && checkpointId === checkpointId.toLowerCase()
      ? `${mixed(checkpointId.slice(0, 8), first)}${checkpointId.slice(8, 28)}${mixed(checkpointId.slice(28), last)}`
      : hashed(checkpointId)

  return {
    prefix,
    runId: (kind, id) => `${prefix}${sha256(`${kind} ${id}`).slice(0, 12)}`,
    startId: (runId) => derive('start', runId),
    eventId,
    eventIds(checkpointId) {
      const ids = [eventId(checkpointId), hashed(checkpointId)]
      return ids[0] === ids[1] ? ids.slice(1) : ids
    },
  }
}

const hexNumber = (digits: string): number => Number.parseInt(digits, 16)
const mixed = (digits: string, own: number): string =>
  ((hexNumber(digits) ^ own) >>> 0).toString(16).padStart(8, '0')

/** The event of this checkpoint, whichever version of Clew recorded it. */
export async function findEvent(
  ledger: Ledger,
  names: SpaceNames,
  checkpointId: string,
): Promise<ClewEvent | undefined> {
  for (const eventId of names.eventIds(checkpointId)) {
    const event = await ledger.getEvent(eventId)
    if (event?.correlationId.startsWith(names.prefix)) return event
  }
  return undefined
}

/** The framework writes the step into its ids: ids of neighbours then lie together in the index. */
const nearness = (checkpointId: string): string =>
  `checkpoint@s${Number.parseInt(checkpointId.slice(19, 23), 16) & 0xfff || 0}`

/** The run that says how often a thread was deleted. */
export const threadDeletionRunId = (thread: string): string => `${PREFIX}grave-${sha256(thread).slice(0, 24)}`
