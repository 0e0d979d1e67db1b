import type { RecordInput } from '../catalogue/catalogue.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { Ledger, LedgerOptions } from '../ledger.ts'
import { isPlaceholder } from '../redact/placeholder.ts'
import type { Store } from '../store/store.ts'
import type { VaultCipher } from '../vault/vault.ts'
import type { VaultRow } from '../vault/vault-rows.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { addRun, assertSound, ended, later, MONTH } from './ended-runs.ts'
import { createSuiteCipher } from './suite-cipher.ts'
import { forked, note, readAll, started, type StoreTest, upTo, type World } from './world.ts'

const CODES: LedgerOptions = { redact: { rules: [{ kind: 'code', pattern: /CODE-\d{6}/ }] } }
const code = (n: number): string => `CODE-${String(n).padStart(6, '0')}`
const large = (secret: string): { items: { n: number; text: string }[] } => ({
  items: upTo(300).map((n) => ({ n, text: n === 150 ? `it is ${secret} here` : `text ${n}` })),
})

const cipherOf = (world: World, ...keyIds: readonly string[]): VaultCipher =>
  createSuiteCipher(world.ports, ...keyIds)
const openVault = (world: World, keyIds: readonly string[] = ['k1'], store?: Store): Promise<Ledger> =>
  world.open(CODES, store, cipherOf(world, ...keyIds))
const restored = (ledger: Ledger, runId: string): Promise<ClewEvent[]> =>
  readAll(ledger, runId, { restored: true })
const rowsOf = async (store: Store) => store.readVault({ afterPosition: 0, limit: 1000 })
const keysOf = async (store: Store) => (await store.info('vaultKeys')).vaultKeys

/** The same store with other rows of the vault. */
const telling = (store: Store, rows?: readonly VaultRow[]): Store => ({
  ...store,
  ...(rows && {
    readVault: async (query) => ('afterPosition' in query && query.afterPosition > 0 ? [] : rows),
  }),
  close: async () => {},
})

/** A checkpoint with a whole state. */
const whole = (runId: string, n: number): RecordInput<'execution.checkpoint'> => ({
  eventType: 'execution.checkpoint',
  correlationId: runId,
  payload: { superstep: n, next: ['a'], state: { key: code(n) }, versions: {} },
})

export const vaultTests: readonly StoreTest[] = [
  {
    rule: 'P2',
    title: 'the vault keeps a row for each event that redaction changed, and none for others',
    async run(world) {
      const ledger = await openVault(world)
      const store = await world.openStore()
      await ledger.append([
        started('r', { input: code(1) }),
        note('r', { text: 'plain' }),
        note('r', { [`the key ${code(2)}`]: `use ${code(3)} twice, ${code(3)}` }),
        note('r', large(code(4))),
      ])
      const rows = await rowsOf(store)
      assertEqual(
        rows.map(({ event, keyId }) => [
          event?.runId,
          event?.seq,
          event?.workspace,
          keyId,
          event?.hasPayload,
        ]),
        [1, 3, 4].map((seq) => ['r', seq, 'default', 'k1', true]),
        'rows',
      )
      assertEqual(await keysOf(store), ['k1'], 'keys')
      assert(!JSON.stringify(rows).includes('CODE-'), 'rows are encrypted')
      const all = [await readAll(ledger, 'r'), await ledger.transcript('r'), await ledger.getRun('r')]
      for await (const line of ledger.export()) all.push(JSON.parse(line) as never)
      assert(!JSON.stringify(all).includes('CODE-'), 'views and exports have placeholders')
      await assertSound(ledger)
    },
  },
  {
    rule: 'P2',
    title: 'whoever asks for it gets originals back: whole, inside text, in keys, in large values and states',
    async run(world) {
      const payloads = [
        { [`the key ${code(2)}`]: `use ${code(3)} twice, ${code(3)}`, list: [code(1), [code(2)]] },
        large(code(4)),
        { map: new Map([[code(5), new Date(0)]]), text: 'plain' },
      ]
      const first = await openVault(world)
      await first.append([started('r', { input: code(1) }), ...payloads.map((each) => note('r', each))])
      await first.record(whole('r', 7))
      await first.append([forked('f', 'r', 3), note('f', { key: code(8) })])
      await world.closeAll()
      const ledger = await openVault(world)
      const events = await restored(ledger, 'r')
      assertEqual(events[0]?.payload['input'], code(1), 'a whole text')
      assertEqual(
        events.slice(1, 4).map(({ payload }) => payload),
        payloads,
        'payloads',
      )
      assertEqual((await ledger.getState('r', { restored: true }))?.state, { key: code(7) }, 'state')
      assertEqual((await ledger.getStateAt('r', 5, { restored: true }))?.state, { key: code(7) }, 'state at')
      assert(isPlaceholder(String((await ledger.getState('r'))?.state['key'])), 'a view of the state')
      assertEqual(
        (await restored(ledger, 'f')).map(({ payload }) => payload['input'] ?? payload['key'] ?? null),
        [code(1), null, null, null, code(8)],
        'a fork with the prefix it shares',
      )
      const plain = await readAll(ledger, 'r')
      assert(!JSON.stringify(plain).includes('CODE-'), 'other reads have placeholders')
      assertEqual(
        events.map((event) => event.ledger.hash),
        plain.map((event) => event.ledger.hash),
        'hashes',
      )
      const without = await readAll(await world.open(CODES), 'r', { restored: true })
      assert(!JSON.stringify(without).includes('CODE-'), 'without a vault nothing is restored')
    },
  },
  {
    rule: 'P2',
    title: 'a text that was redacted before it is recorded has its original in the vault too',
    async run(world) {
      const ledger = await openVault(world)
      const text = ledger.redactor.text(`failed with ${code(1)}`)
      assert(!text.includes('CODE-'), 'redacted')
      await ledger.append([note('r', { text }), note('r', { text: '[redacted:code:0123456789]' })])
      assertEqual(
        (await restored(ledger, 'r')).map(({ payload }) => payload['text']),
        [`failed with ${code(1)}`, '[redacted:code:0123456789]'],
        'texts',
      )
    },
  },
  {
    rule: 'P2',
    title:
      'a missing or wrong key is told with its id; nothing is lost, and events are read with placeholders',
    async run(world) {
      await (await openVault(world)).append([note('r', { text: 'plain' }), note('r', { key: code(1) })])
      const where = { keyId: 'k1', runId: 'r', seq: 2 }
      const missing = await openVault(world, ['k2'])
      const wrong = await world.open(CODES, undefined, {
        ...cipherOf(world, 'k1'),
        decrypt: async () => ({ problem: 'wrong key' }),
      })
      for (const ledger of [missing, wrong]) {
        const error = await assertRefused(() => restored(ledger, 'r'), 'bad_key', where)
        assert(!JSON.stringify(error).includes('CODE-'), 'the error holds no secret')
        assertEqual((await readAll(ledger, 'r')).length, 2, 'events can be read')
      }
      await missing.record(note('q', { key: code(2) }))
      assertEqual((await restored(missing, 'q'))[0]?.payload['key'], code(2), 'the new key goes on')
      assert((await missing.verify()).ok, 'a key that is not at hand is no damage')
      assertEqual(
        (await wrong.verify()).problems.map(({ problem, runId, seq }) => [problem, runId, seq]).slice(0, 1),
        [['unreadable_vault_row', 'r', 2]],
        'a wrong one is found',
      )
      assertEqual(
        (await restored(await openVault(world), 'r'))[1]?.payload['key'],
        code(1),
        'nothing is lost',
      )
    },
  },
  {
    rule: 'P2',
    title:
      'a rotation encrypts rows of older keys anew; a stopped one goes on; without the old key it is refused',
    async run(world) {
      const runs = upTo(450).map((n) => note('r', { key: code(n) }))
      await (await openVault(world)).append(runs)
      const store = await world.openStore()
      await assertRefused(async () => (await openVault(world, ['k2'])).rotateVault(), 'bad_key', {
        keyId: 'k1',
      })
      await assertRefused(async () => (await world.open(CODES)).rotateVault(), 'bad_option')
      const stopped = await openVault(world, ['k2', 'k1'])
      const dies = (): never => {
        throw new Error('killed')
      }
      await stopped
        .rotateVault({ onProgress: dies })
        .catch((error: Error) => assertEqual(error.message, 'killed', 'error'))
      assertEqual(await keysOf(store), ['k1', 'k2'], 'each row is old or new')
      const both = await openVault(world, ['k2', 'k1'])
      const list = async (ledger: Ledger) =>
        (await restored(ledger, 'r')).map(({ payload }) => payload['key'])
      assertEqual(await list(both), upTo(450).map(code), 'both are read')
      const told: number[] = []
      const report = await both.rotateVault({ onProgress: (rows) => void told.push(rows) })
      assertEqual([report, told.at(-1)], [{ keyId: 'k2', rows: 250, unreadable: 0 }, 250], 'the rest')
      assertEqual(await keysOf(store), ['k2'], 'keys')
      assertEqual(
        await list(await openVault(world, ['k2'])),
        upTo(450).map(code),
        'the old key is not needed',
      )
      await assertSound(both)
    },
  },
  {
    rule: 'P2',
    title: 'a rotation does not overwrite a row that another rotation replaced',
    async run(world) {
      await (await openVault(world)).record(note('r', { key: code(1) }))
      const store = await world.openStore()
      const [row] = await rowsOf(store)
      assert(row, 'a row')
      const { position, data } = row
      for (const [from, to, expected] of [
        ['k0', 'k9', 'k1'],
        ['k1', 'k2', 'k2'],
        ['k1', 'k3', 'k2'],
      ] as const) {
        const change = { position, before: { keyId: from, data }, after: { keyId: to, data } }
        await store.write({ calls: [], vault: [change] })
        assertEqual((await rowsOf(store))[0]?.keyId, expected, `${from} to ${to}`)
      }
    },
  },
  {
    rule: 'P2',
    title: 'a row that was moved to another event does not decrypt, and verify finds it',
    async run(world) {
      const store = await world.openStore()
      const ledger = await openVault(world, ['k1'], telling(store))
      await ledger.append([note('r', { key: code(1) }), note('r', { key: code(2) })])
      const [one, two] = await rowsOf(store)
      assert(one && two, 'two rows')
      const moved = telling(store, [{ ...one, data: two.data }, two])
      const cheated = await openVault(world, ['k1'], moved)
      await assertRefused(() => restored(cheated, 'r'), 'bad_key', { runId: 'r', seq: 1 })
      assertEqual(
        (await cheated.verify()).problems.map(({ problem, seq }) => [problem, seq]),
        [['unreadable_vault_row', 1]],
        'problems',
      )
    },
  },
  {
    rule: 'P5',
    title: 'an erased event leaves no row in the vault',
    async run(world) {
      const ledger = await openVault(world)
      await ledger.append([
        started('r', { subjects: ['ann'], input: code(1) }),
        note('r', large(code(2))),
        ended('r'),
      ])
      await ledger.append([started('q', { input: code(1) }), ended('q')])
      await ledger.erase({ subject: 'ann' })
      const store = await world.openStore()
      assertEqual(
        (await rowsOf(store)).map(({ event }) => event?.runId),
        ['q'],
        'rows',
      )
      assertEqual(
        (await restored(ledger, 'r')).every(({ ledger: { erased } }) => erased),
        true,
        'erased',
      )
      await assertSound(ledger)
    },
  },
  {
    rule: 'P4',
    title: 'what retention takes, whole runs and states, leaves no row in the vault',
    async run(world) {
      const ledger = await openVault(world)
      await addRun(ledger, 'old', { input: code(1) })
      await ledger.append([started('states', { threadId: 't' }), ...upTo(3).map((n) => whole('states', n))])
      const store = await world.openStore()
      const seqs = async () => (await rowsOf(store)).map(({ event }) => `${event?.runId} ${event?.seq}`)
      assertEqual(await seqs(), ['old 1', 'states 2', 'states 3', 'states 4'], 'before')
      await ledger.pruneStates('states', { keep: 'latest' })
      assertEqual(await seqs(), ['old 1', 'states 4'], 'states')
      await ledger.append([ended('states')])
      await later(world, ledger)
      await ledger.gc({ policy: MONTH })
      assertEqual(await seqs(), [], 'runs')
      await assertSound(ledger)
    },
  },
  {
    rule: 'L6',
    title: 'verify finds vault rows without an event, and such as outlived the payload of theirs',
    async run(world) {
      const store = await world.openStore()
      const ledger = await openVault(world, ['k1'], telling(store))
      await ledger.append([started('r', { input: code(1) }), note('r', { key: code(2) }), ended('r')])
      const kept = await rowsOf(store)
      const [one, two] = kept
      assert(one?.event && two, 'two rows')
      const rows = [
        { ...one, event: { ...one.event, hasPayload: false } },
        { ...two, position: 999_999, event: null },
      ]
      for (const vault of [undefined, cipherOf(world, 'k1')]) {
        const { ok, problems } = await (await world.open(CODES, telling(store, rows), vault)).verify()
        assert(!ok, 'not sound')
        assertEqual(
          problems.map(({ problem, runId, seq }) => [problem, runId, seq]),
          [
            ['stray_vault_row', 'r', 1],
            ['stray_vault_row', '', null],
          ],
          'problems',
        )
      }
    },
  },
  {
    rule: 'P2',
    title: 'an export has no rows of the vault, and an import brings none',
    async run(world) {
      const ledger = await openVault(world)
      await ledger.append([started('r', { input: code(1) }), note('r', { key: code(2) })])
      const lines: string[] = []
      for await (const line of ledger.export()) lines.push(line)
      const rows = await rowsOf(await world.openStore())
      for (const { data } of rows) assert(!lines.join('').includes(data), 'no row in the export')
      const there = await world.elsewhere()
      const moved = await openVault(there)
      // The cache of this process does not count either.
      moved.redactor.text(code(1))
      await moved.import(lines)
      assertEqual(await rowsOf(await there.openStore()), [], 'rows')
      assert(!JSON.stringify(await restored(moved, 'r')).includes('CODE-'), 'placeholders')
      await assertSound(moved)
    },
  },
  {
    rule: 'A2',
    title: 'originals of one workspace are not given to another that has their placeholders',
    async run(world) {
      const ledger = await openVault(world)
      const other = ledger.in('other')
      await ledger.record(note('r', { key: code(1) }))
      const [event] = await readAll(ledger, 'r')
      const placeholder = String(event?.payload['key'])
      assert(isPlaceholder(placeholder), 'a placeholder')
      await other.record(note('r', { key: placeholder }))
      assertEqual((await restored(other, 'r'))[0]?.payload['key'], placeholder, 'in the other workspace')
      assertEqual((await restored(ledger, 'r'))[0]?.payload['key'], code(1), 'in its own')
      assertEqual(
        (await rowsOf(await world.openStore())).map((row) => row.event?.workspace),
        ['default'],
        'rows',
      )
    },
  },
  {
    rule: 'L5',
    title: 'concurrent appends keep each their row, a refused one none, and a retry adds none',
    async run(world) {
      const ledgers = [await openVault(world), await openVault(world)]
      const first = await (ledgers[0] as Ledger).record(note('shared', { key: code(0) }))
      await Promise.all(
        upTo(60).map((n) =>
          (ledgers[n % 2] as Ledger).append([
            note('shared', { key: code(n) }),
            note(`r${n}`, { key: code(n) }),
          ]),
        ),
      )
      const [ledger] = ledgers as [Ledger]
      await assertRefused(
        () => ledger.append([note('shared', { key: code(99) })], { expectedSeq: 3 }),
        'wrong_seq',
      )
      await ledger.record({ ...note('shared', { key: code(0) }), eventId: first.eventId })
      assertEqual((await rowsOf(await world.openStore())).length, 121, 'rows')
      const later = await openVault(world)
      const keys = (await restored(later, 'shared')).map(({ payload }) => String(payload['key']))
      assertEqual(keys.toSorted(), upTo(60, 0).map(code), 'shared')
      for (const n of upTo(60))
        assertEqual((await restored(later, `r${n}`))[0]?.payload, { key: code(n) }, `run ${n}`)
      await assertSound(later)
    },
  },
]
