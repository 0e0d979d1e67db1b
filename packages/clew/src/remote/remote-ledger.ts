import { ClewError, type Codec, createCodecs, type Ledger } from '@clew/ledger'
import { nodePorts } from '@clew/runtime/node-ports'
import { hidePasswords } from '../hide-passwords.ts'
import { notRemote } from './not-remote.ts'
import { createReads } from './remote-reads.ts'
import { createWrites } from './remote-writes.ts'
import { noteServer } from './server-of.ts'

export interface RemoteOptions {
  readonly workspace?: string | undefined
  readonly token?: string | undefined
  readonly codecs?: readonly Codec[] | undefined
  readonly retryMs?: number | undefined
  /** Aborts when the ledger is closed that this one is a view of. */
  readonly closed?: AbortSignal | undefined
}

/**
 * W9: a server as a ledger. It reads, follows, appends and asks for control; what needs the store or its key, such as leases
 * and erasure, throws.
 */
export function openRemote(url: string, options: RemoteOptions = {}): Ledger {
  const { workspace, token, retryMs = 0, codecs: own } = options
  const closing = new AbortController()
  const closed = options.closed ? AbortSignal.any([options.closed, closing.signal]) : closing.signal
  // `fetch` refuses such a URL, and everything below names the server by it.
  if (hidePasswords(url) !== url)
    throw new ClewError(
      'bad_url',
      `The URL of the server holds a password: ${hidePasswords(url)}`,
      'Leave it out, and set CLEW_TOKEN to a token of that server.',
    )
  const codecs = createCodecs(own)
  const server = { url: url.replace(/\/+$/, ''), token, workspace, retryMs, closed, codecs }
  const writes = createWrites(server)
  const ledger = {
    ...createReads(server),
    record: writes.record,
    append: writes.append,
    appendWire: writes.appendWire,
    get waiting() {
      return writes.waiting
    },
    url: server.url,
    workspace: workspace ?? 'default',
    mode: { write: true, resume: true, replay: true },
    durability: 'group' as const,
    // Originals never go over HTTP, whatever the server has.
    hasVault: false,
    conceal: <Value>(value: Value): Value => value,
    in: (other: string, { plain = false } = {}) => {
      if (plain) throw notRemote('A view with plain values', server.url)
      return openRemote(url, { ...options, workspace: other, closed })
    },
    recordedCopy: <T>(value: T): T => codecs.copy(value) as T,
    causedBy: (<T>(event: string | { readonly eventId: string }, fn: () => T): T =>
      nodePorts.context.run(typeof event === 'string' ? event : event.eventId, fn)) as Ledger['causedBy'],
    currentCause: () => nodePorts.context.current(),
    // Leases are known to the server only.
    leases: refusing(
      { list: async () => [] },
      { acquire: true, claim: true, queues: true, renew: true, release: true },
      (name) => notRemote(`Executing runs (leases.${name})`, server.url),
    ),
    async close() {
      await writes.settle()
      closing.abort()
    },
  }
  const remote: Ledger = refusing(ledger, REFUSED, (name) => notRemote(`\`${name}\``, server.url))
  noteServer(remote, server)
  return remote
}

/** `REFUSED` has every member of `Ledger` that is not there: the compiler compares them. */
type Refused = Exclude<keyof Ledger, keyof ReturnType<typeof createReads> | keyof typeof OFFERED>

/** Members beside those of the reads. */
const OFFERED = {
  record: true,
  append: true,
  appendWire: true,
  waiting: true,
  url: true,
  workspace: true,
  mode: true,
  durability: true,
  hasVault: true,
  conceal: true,
  in: true,
  recordedCopy: true,
  causedBy: true,
  currentCause: true,
  leases: true,
  close: true,
} as const satisfies { readonly [Name in keyof Ledger]?: true }

const REFUSED: { readonly [Name in Refused]: true } = {
  progress: true,
  redactor: true,
  fingerprint: true,
  memory: true,
  findBelow: true,
  getStateAt: true,
  listCheckpoints: true,
  digest: true,
  keyedDigest: true,
  identity: true,
  consume: true,
  consumers: true,
  resetConsumer: true,
  index: true,
  indexState: true,
  erase: true,
  gc: true,
  retentionReport: true,
  pruneStates: true,
  hold: true,
  release: true,
  holds: true,
  pruned: true,
  rebuild: true,
  projectionState: true,
  rotateVault: true,
  signHeads: true,
  export: true,
  import: true,
  stats: true,
  newestPosition: true,
  policy: true,
  setPolicy: true,
}

/** The object with further members, which throw when they are used. */
function refusing<Own extends object, Name extends string>(
  own: Own,
  names: { readonly [Each in Name]: true },
  toError: (name: Name) => ClewError,
): Own & { readonly [Each in Name]: never } {
  for (const name of Object.keys(names) as Name[])
    Object.defineProperty(own, name, {
      get() {
        throw toError(name)
      },
    })
  return own as Own & { readonly [Each in Name]: never }
}
