import { ClewError } from '../src/errors.ts'
import type { RunKey, Store, StoredEvent, StoredRun, StoreInfo } from '../src/store/store.ts'
import type { AppendCall, AppendOutcome, PreparedEvent } from '../src/store/change.ts'
import type { VaultRow } from '../src/vault/vault-rows.ts'
import { BROKEN_MEMORY } from './broken-memory.ts'
import { BROKEN_PROGRESS } from './broken-progress.ts'
import { BROKEN_READINGS } from './broken-readings.ts'

/** A suite that cannot fail proves nothing: each store here breaks one rule, and the test of that rule must say so. */
export interface BrokenStore {
  readonly what: string
  /** Every test named here must fail: the rule, and a part of the test's name. */
  readonly failing: readonly string[]
  readonly change: (store: Store) => Partial<Store>
}

const events =
  (change: (all: StoredEvent[], options: { afterPosition?: number }) => StoredEvent[]) =>
  (store: Store): Partial<Store> => ({
    readRun: async (key, options) => change(await store.readRun(key, options), {}),
    readAll: async (options) => change(await store.readAll(options), options),
    findEvents: async (query) => change(await store.findEvents(query), {}),
  })

const calls =
  (change: (call: AppendCall) => AppendCall) =>
  (store: Store): Partial<Store> => ({
    write: ({ calls: all, ...rest }) => store.write({ ...rest, calls: all.map(change) }),
  })

const outcomes =
  (change: (all: readonly AppendOutcome[]) => readonly AppendOutcome[]) =>
  (store: Store): Partial<Store> => ({
    async write(given) {
      const written = await store.write(given)
      return 'outcomes' in written ? { ...written, outcomes: change(written.outcomes) } : written
    },
  })

const runs =
  (change: (run: StoredRun) => StoredRun) =>
  (store: Store): Partial<Store> => ({
    async findRuns(query) {
      const page = await store.findRuns(query)
      return { ...page, runs: page.runs.map(change) }
    },
  })

const map = (change: (event: StoredEvent) => StoredEvent) => events((all) => all.map(change))
const everyEvent = (change: (event: PreparedEvent) => PreparedEvent) =>
  calls((call) => ({ ...call, events: call.events.map(change) }))
const withoutSeal = ({ sealed: _, ...event }: PreparedEvent): PreparedEvent => event

export const BROKEN_STORES: readonly BrokenStore[] = [
  {
    what: 'claims one run at a time and forgets when the next is due',
    failing: ['R9 sleeping runs and questions', 'R9 those that wait longest'],
    change: (store) => ({
      leases: {
        ...store.leases,
        claim: async (options) => ({
          ...(await store.leases.claim({ ...options, limit: 1 })),
          nextDueMs: null,
        }),
      },
    }),
  },
  {
    what: 'does not look at the time, and at nobody who is left alone, when runs are claimed',
    failing: ['R9 sleeping runs and questions', 'R9 those that wait longest'],
    change: (store) => ({
      leases: {
        ...store.leases,
        claim: (options) => store.leases.claim({ ...options, nowMs: Number.MAX_SAFE_INTEGER, except: [] }),
      },
    }),
  },
  {
    what: 'finds no forks below a run',
    failing: ['R7 what comes from a run'],
    change: (store) => ({
      async findRuns(query) {
        const { runs: found, next } = await store.findRuns(query)
        return { runs: found.filter(({ summary }) => !query.below || summary.forkedFrom === null), next }
      },
    }),
  },
  {
    what: 'changes the text of timestamps',
    failing: ['E1 an event reads back'],
    change: map((event) => ({ ...event, timestamp: new Date(event.timestamp).toISOString() })),
  },
  {
    what: 'forgets causes',
    failing: ['E1 an event reads back', 'L9 the cause comes'],
    change: map((event) => ({ ...event, causationId: null })),
  },
  {
    what: 'skips a seq',
    failing: ['L3 seq is dense under', 'L3 seq is dense in each', 'L3 a run is read'],
    change: map((event) => (event.seq > 3 ? { ...event, seq: event.seq + 1 } : event)),
  },
  {
    what: 'gives a position twice',
    failing: ['L3 seq is dense in each'],
    change: map((event) => ({ ...event, position: Math.ceil(event.position / 2) })),
  },
  {
    what: 'reads in the wrong order',
    failing: ['L3 a run is read', 'E2 the producer'],
    change: events((all) => all.toReversed()),
  },
  {
    what: 'lets time go back',
    failing: ['L3 recordedAt never goes back'],
    change: map((event) => ({ ...event, recordedAt: new Date(2e12 - event.seq).toISOString() })),
  },
  {
    what: 'loses an acknowledged event',
    failing: ['L5 acknowledged means visible', 'L6 everything verifies'],
    change: events((all) => all.filter((event) => event.position !== 5)),
  },
  {
    what: 'fails the neighbours of a bad call',
    failing: ['L5 a bad call in a group'],
    change: outcomes((all) => {
      const bad = all.find((outcome) => 'error' in outcome)
      return bad ? all.map(() => bad) : all
    }),
  },
  {
    what: 'writes half of a batch',
    failing: ['L5 a batch is all or nothing', 'L4 the same id with other content'],
    change: (store) => ({
      async write({ calls: all }) {
        const done: AppendOutcome[] = []
        for (const call of all) {
          const each = call.events.map((event) => ({ ...call, events: [event] }))
          const written = await store.write({ calls: each })
          const parts = 'outcomes' in written ? written.outcomes : []
          const bad = parts.find((part) => 'error' in part)
          done.push(bad ?? { events: parts.flatMap((part) => ('events' in part ? part.events : [])) })
        }
        return { outcomes: done, tookMs: 0 }
      },
    }),
  },
  {
    what: 'forgets which ids it has',
    failing: ['L4 the same id with the same content', 'L4 many deliveries', 'L4 the same id with other'],
    change: everyEvent((event) => ({ ...event, fresh: true })),
  },
  {
    what: 'trusts the ids of a leased run and does not look again',
    failing: ['L4 under a lease too', 'L4 what stands already'],
    change: calls((call) =>
      call.epoch === undefined
        ? call
        : { ...call, events: call.events.map((event) => ({ ...event, fresh: true })) },
    ),
  },
  {
    what: 'takes a conflict for a retry',
    failing: ['L4 the same id with other content', 'L4 one id twice'],
    change: outcomes((all) =>
      all.map((each) => ('error' in each && each.error.code === 'conflict' ? { events: [] } : each)),
    ),
  },
  {
    what: 'judges sameness by what is stored only',
    failing: ['L4 sameness is judged before redaction'],
    change: everyEvent((event) => ({ ...event, mac: null })),
  },
  {
    what: 'ignores expectedSeq',
    failing: ['L4 expectedSeq is compared', 'L4 a retry under expectedSeq'],
    change: calls((call) => ({ ...call, expectedSeq: undefined })),
  },
  {
    what: 'ignores the epoch',
    failing: ['R9 execution events need', 'R9 a silent owner', 'R9 a thread taken over'],
    change: (store) => ({
      async write({ calls: all }) {
        const held = await store.leases.list()
        const epochOf = (call: AppendCall): number | undefined =>
          held.find((lease) => lease.runId === call.events[0]?.correlationId)?.epoch
        return store.write({ calls: all.map((call) => ({ ...call, epoch: epochOf(call) })) })
      },
    }),
  },
  {
    what: 'gives one lease to two owners',
    failing: ['R9 one owner at a time'],
    change: (store) => ({
      leases: {
        ...store.leases,
        async acquire(key, threadId) {
          for (const lease of await store.leases.list())
            if (lease.runId === key.runId) await store.leases.release(lease)
          return store.leases.acquire(key, threadId)
        },
      },
    }),
  },
  {
    what: 'knows no threads',
    failing: ['R9 one running run per thread'],
    change: (store) => ({ leases: { ...store.leases, acquire: (key: RunKey) => store.leases.acquire(key) } }),
  },
  {
    what: 'changes a hash',
    failing: ['L6 everything verifies', 'L6 each hash can be recomputed', 'L6 the answer of an append'],
    change: map((event) => (event.seq === 2 ? { ...event, hash: event.hash.replace(/.$/, 'x') } : event)),
  },
  {
    what: 'gives no history to followers',
    failing: ['L7 history, then live', 'A2 workspaces never mix'],
    change: (store) => ({
      async readAll(options) {
        const page = await store.readAll(options)
        return options.afterPosition === 0 ? page.slice(-1) : page
      },
    }),
  },
  {
    what: 'never wakes a watcher',
    failing: ['L7 history, then live', 'L7 a watcher is woken'],
    change: () => ({ watch: () => () => {} }),
  },
  {
    what: 'lets a watcher break the writer',
    failing: ['L7 a follower or a watcher that throws'],
    change: (store) => {
      const wakes = new Set<() => void>()
      return {
        async write(change) {
          const done = await store.write(change)
          for (const wake of wakes) wake()
          return done
        },
        watch: (wake) => (wakes.add(wake), () => void wakes.delete(wake)),
      }
    },
  },
  {
    what: 'mixes workspaces when it reads by position',
    failing: ['A2 workspaces never mix', 'A2 a follower of one workspace'],
    change: (store) => ({ readAll: (options) => store.readAll({ ...options, workspace: undefined }) }),
  },
  {
    what: 'mixes workspaces when it looks up ids',
    failing: ['A2 workspaces never mix'],
    change: (store) => ({
      findEvents: async (query) =>
        (await store.readAll({ afterPosition: 0, limit: 999 })).filter(
          ({ eventId }) => 'ids' in query && query.ids.includes(eventId),
        ),
    }),
  },
  {
    what: 'shares values wider than a thread',
    failing: ['L8 a value sent again costs no value; shared within'],
    change: everyEvent((event) =>
      event.payload?.['threadId'] === undefined
        ? event
        : { ...event, payload: { ...event.payload, threadId: 'all' } },
    ),
  },
  {
    what: 'shares no values',
    failing: ['L8 a value sent again', 'L8 a growing list', 'L8 one key of 10,000'],
    change: (store) => {
      let written = 0
      return {
        write: (change) => ((written += change.calls.length * 500), store.write(change)),
        async info(...keys) {
          const info = (await store.info(...keys)) as StoreInfo
          return { ...info, stats: { ...info.stats, values: written } }
        },
      }
    },
  },
  {
    what: 'sorts the keys of payloads',
    failing: ['E1 an event reads back', 'L8 large strings'],
    change: map((event) => ({
      ...event,
      body: event.body?.startsWith('{') ? sorted(event.body) : event.body,
    })),
  },
  {
    what: 'finds one effect only',
    failing: ['L9 causes and effects'],
    change: (store) => ({
      async findEvents(query) {
        const found = await store.findEvents(query)
        return 'causes' in query ? found.slice(0, 1) : found
      },
    }),
  },
  {
    what: 'gives imported events new hashes',
    failing: ['L11 a whole ledger moves', 'L11 a broken, changed or missing line'],
    change: everyEvent(withoutSeal),
  },
  {
    what: 'forgets where a fork came from',
    failing: ['R7 a fork shares', 'R7 fork of a fork', 'L7 a fork is followed'],
    change: runs((run) => ({ ...run, forkOf: null })),
  },
  {
    what: 'keeps summaries apart from their events',
    failing: ['L1 stored projections equal', 'L1 a summary tells'],
    change: runs((run) => ({ ...run, summary: { ...run.summary, steps: 0 } })),
  },
  {
    what: 'loses a step',
    failing: ['L1 stored projections equal', 'L1 a second connection'],
    change: (store) => ({
      readSteps: async (key, range) => (await store.readSteps(key, range)).slice(1),
    }),
  },
  {
    what: 'gives the first steps where the last are asked for',
    failing: ['L1 steps are read page by page', 'L1 a page of steps'],
    change: (store) => ({ readSteps: (key, range) => store.readSteps(key, { ...range, last: false }) }),
  },
  {
    what: 'lists the oldest first',
    failing: ['R4 runs are listed newest first'],
    change: (store) => ({
      async findRuns(query) {
        const page = await store.findRuns(query)
        return { ...page, runs: page.runs.toReversed() }
      },
    }),
  },
  {
    what: 'takes any cursor',
    failing: ['R4 a cursor that no listing gave'],
    change: (store) => ({
      findRuns: (query) => store.findRuns(query).catch(() => ({ runs: [], next: null })),
    }),
  },
  {
    what: 'answers after closing',
    failing: ['L5 closing settles'],
    change: () => ({
      write: async () => ({
        outcomes: [{ error: new ClewError('closed', 'Closed', 'Open it.') }],
        tookMs: 0,
      }),
    }),
  },
  {
    what: 'loses rows of the vault',
    failing: ['P2 the vault keeps a row', 'P2 whoever asks for it gets originals back'],
    change: everyEvent((event) => ({ ...event, vault: null })),
  },
  {
    what: 'keeps rows of the vault whose payload is gone',
    failing: ['P5 an erased event leaves no row', 'P4 what retention takes'],
    change: keepingVaultRows,
  },
  {
    what: 'replaces a row of the vault that is no longer as it was',
    failing: ['P2 a rotation does not overwrite'],
    change: (store) => ({
      async write({ vault: changes = [], ...rest }) {
        const rows = await store.readVault({ positions: changes.map(({ position }) => position) })
        const vault = changes.flatMap((change) =>
          rows.map(({ keyId, data }) => ({ ...change, before: { keyId, data } })),
        )
        return store.write({ ...rest, vault })
      },
    }),
  },
  {
    what: 'has no marks of what is erased and pruned',
    failing: ['L6 every event without payload or state has a mark'],
    change: (store) => ({ rows: { ...store.rows, marks: async () => [] } }),
  },
  {
    what: 'does not say what its columns hold',
    failing: ['L1 the columns and subjects of a run', 'L1 stored projections equal a rebuild'],
    change: (store) => ({ rows: { ...store.rows, ofRun: async () => null } }),
  },
  ...BROKEN_READINGS,
  ...BROKEN_PROGRESS,
  ...BROKEN_MEMORY,
]

function sorted(body: string): string {
  const value = JSON.parse(body) as Record<string, unknown>
  return JSON.stringify(Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

/** Remembers every row that it has ever listed. */
function keepingVaultRows(store: Store): Partial<Store> {
  const seen = new Map<number, VaultRow>()
  return {
    async write(change) {
      const written = await store.write(change)
      for (const row of await store.readVault({ afterPosition: 0, limit: 10_000 }))
        seen.set(row.position, row)
      return written
    },
    readVault: async (query) =>
      [...seen.values()].filter(({ position }) => 'positions' in query || position > query.afterPosition),
  }
}
