import { createLedger } from '../create-ledger.ts'
import { type ForeignType, foreignType, type PayloadOf, type RecordInput } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { HeadChecker, HeadSigner } from '../verify/heads.ts'
import type { FollowOptions, Ledger, LedgerOptions, ReadOptions } from '../ledger.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'
import type { VaultCipher } from '../vault/vault.ts'

/** How the suite gets at a store; written once per store by its author. */
export interface StoreHarness {
  /** The world's clock, dice, digests and async context, as the store's users hand them in. */
  readonly ports: Ports
  /** A place without any event, for one test. Its stores must use these ports: the suite turns their clock. */
  create(ports: Ports): Promise<StorePlace>
  /** How long a condition may take before it counts as never met; 60 s by default. */
  readonly deadlineMs?: number | undefined
  /** Tests that this store does not run, by name, each with the reason. */
  readonly skip?: Readonly<Record<string, string>> | undefined
}

/** One database, file or memory. */
export interface StorePlace {
  /** A connection of its own; all that are open see each other's commits, and later ones find what is there. */
  open(): Promise<Store>
  /** Called when all connections of the test are closed. */
  dispose(): Promise<void>
}

export interface StoreTest {
  /** The rule of SPEC.md that it proves. */
  readonly rule: string
  readonly title: string
  run(world: World): Promise<void>
}

/** Ledger, store and ports of one test. */
export interface World {
  readonly ports: Ports
  /** Moves the clock of the store and of all ledgers; may go back. */
  turnClock(ms: number): void
  openStore(): Promise<Store>
  /** A ledger over a connection of its own, or over the store given; with a vault if it is given keys. */
  open(options?: LedgerOptions, store?: Store, vault?: VaultCipher): Promise<Ledger>
  /** An empty place of the same kind, for moving a ledger elsewhere. */
  elsewhere(): Promise<World>
  /** Closes everything that is open; what was committed stays. */
  closeAll(): Promise<void>
  follow(ledger: Ledger, options?: FollowOptions): Follower
  /** Waits until it holds; a deadline turns "never" into a failure. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>
}

export interface Follower {
  readonly events: ClewEvent[]
  /** Settles when the following ends; never rejects, see `error`. */
  readonly ended: Promise<void>
  readonly error: () => unknown
  abort(): void
}

interface AbortHost {
  AbortController: new () => { readonly signal: NonNullable<FollowOptions['signal']>; abort(): void }
}
export const createAbort = () => new (globalThis as unknown as AbortHost).AbortController()

const SECRET = 'a secret of the suite, long enough to be one'
const DEADLINE_MS = 60_000

export async function createWorld(harness: StoreHarness): Promise<World & { dispose(): Promise<void> }> {
  let offsetMs = 0
  const ports: Ports = { ...harness.ports, now: () => harness.ports.now() + offsetMs }
  const places: StorePlace[] = []
  const followers: Follower[] = []
  const stores: Store[] = []
  const ledgers: Ledger[] = []

  async function closeAll(): Promise<void> {
    for (const follower of followers.splice(0)) {
      follower.abort()
      await follower.ended
    }
    for (const ledger of ledgers.splice(0)) await ledger.close()
    for (const store of stores.splice(0)) await store.close()
  }

  async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = harness.ports.now() + (harness.deadlineMs ?? DEADLINE_MS)
    while (!(await holds())) {
      if (harness.ports.now() > deadline) throw new Error(`waited in vain until ${what}`)
      await harness.ports.sleep(2)
    }
  }

  function follow(ledger: Ledger, options: FollowOptions = {}): Follower {
    const control = createAbort()
    const events: ClewEvent[] = []
    let error: unknown
    const consume = async (): Promise<void> => {
      try {
        for await (const event of ledger.follow({ ...options, signal: control.signal })) events.push(event)
      } catch (cause) {
        error = cause
      }
    }
    const follower = { events, ended: consume(), error: () => error, abort: () => control.abort() }
    followers.push(follower)
    return follower
  }

  async function at(place: StorePlace): Promise<World> {
    places.push(place)
    const openStore = async (): Promise<Store> => {
      const store = await place.open()
      stores.push(store)
      return store
    }
    return {
      ports,
      turnClock: (ms) => void (offsetMs += ms),
      openStore,
      async open(options, store, vault) {
        const kept = store ?? (await place.open())
        const parts = { store: kept, ports, secret: SECRET, heads: suiteHeads, vault }
        const ledger = createLedger(parts, options)
        ledgers.push(ledger)
        return ledger
      },
      elsewhere: async () => at(await harness.create(ports)),
      closeAll,
      follow,
      until,
    }
  }

  const world = await at(await harness.create(ports))
  return {
    ...world,
    async dispose() {
      await closeAll()
      for (const place of places) await place.dispose()
    },
  }
}

/** No real signature: what counts here is that heads are compared with what the store holds. */
const suiteHeads: HeadChecker = {
  verify: async (text, signature) => signature === `signed ${text.length} ${text}`,
}
export const suiteSigner: HeadSigner = {
  publicKey: 'the suite',
  sign: async (text) => `signed ${text.length} ${text}`,
}

export async function readAll(ledger: Ledger, runId: string, options?: ReadOptions): Promise<ClewEvent[]> {
  const events: ClewEvent[] = []
  for await (const event of ledger.read(runId, options)) events.push(event)
  return events
}

/** An index goes as far as a follower does: not yet beyond what was committed beside a transaction still under way. */
export async function indexAll(ledger: Ledger): Promise<void> {
  while ((await ledger.index()).lag > 0) continue
}

export const note = (runId: string, payload: Record<string, unknown> = {}): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: runId,
  payload,
})

export const started = (
  runId: string,
  payload: PayloadOf<'system.workflow_started'> = {},
): RecordInput<'system.workflow_started'> => ({
  eventType: 'system.workflow_started',
  correlationId: runId,
  payload,
})

export const forked = (
  runId: string,
  sourceRunId: string,
  sourceSeq: number,
): RecordInput<'system.workflow_forked'> => ({
  eventType: 'system.workflow_forked',
  correlationId: runId,
  payload: { sourceRunId, sourceSeq },
})

export const seqs = (events: readonly ClewEvent[]): number[] => events.map((event) => event.ledger.seq)
export const upTo = (n: number, from = 1): number[] =>
  Array.from({ length: n - from + 1 }, (_, i) => from + i)
