import {
  createLedger,
  type HeadChecker,
  type HeadSigner,
  type Ledger,
  type Ports,
  type Store,
} from '@clew/ledger'
import { createSuiteCipher } from '../../packages/ledger/src/conformance/suite-cipher.ts'
import { nodePorts } from '../../packages/ledger/test/node-ports.ts'

const DAY_MS = 86_400_000
const SECRET = 'a secret for tests that is long enough'
export const API_KEY = `sk-ant-api03-${'Ab3dEf6hIj'.repeat(9)}xyAA`

/** No real signature: what counts here is that heads are compared with what the store holds. */
const heads: HeadChecker = { verify: async (text, signature) => signature === `signed ${text}` }
export const signer: HeadSigner = { publicKey: 'tests', sign: async (text) => `signed ${text}` }

/** The clock of a ledger and its store, set back by so many days. */
export const portsOf = (daysAgo = 0): Ports => ({
  ...nodePorts,
  now: () => nodePorts.now() - daysAgo * DAY_MS,
})

export function openWorld(store: Store, workspace = 'default', daysAgo = 0): Ledger {
  const ports = portsOf(daysAgo)
  const vault = createSuiteCipher(ports, 'key-1')
  return createLedger({ store, ports, secret: SECRET, heads, vault }, { workspace })
}

const event = (eventType: string, correlationId: string, payload: Record<string, unknown> = {}) => ({
  eventType,
  correlationId,
  payload,
})
const started = (runId: string, payload: Record<string, unknown> = {}) =>
  event('system.workflow_started', runId, payload)
const ended = (runId: string) => event('system.workflow_completed', runId)
const note = (runId: string, payload: Record<string, unknown> = {}) => event('execution.note', runId, payload)

/** Long enough to be stored as a tree of shared values. */
const long = (text: string) =>
  Array.from({ length: 150 }, (_, n) => ({ n, text: `${text} ${n}`, more: `${n} of ${text}` }))

const superstep = (runId: string, n: number) =>
  event('execution.step_completed', runId, {
    stepId: `say@s${n}`,
    name: 'say',
    output: { word: `word${n}` },
    checkpoint: {
      superstep: n,
      next: ['say'],
      operations: [{ op: 'set', channel: 'word', from: `say@s${n}` }],
      baseSeq: 2 + Math.floor(n / 4) * 4,
      ...(n % 4 === 0 && { state: { word: `word${n}` }, versions: {} }),
    },
  })

/**
 * A small ledger with something of everything: threads, children, forks, shared values, chosen ids, causes, an erasure,
 * pruned ranges and states, memory, words to search, vault rows, a lease, a cursor, a second workspace.
 */
export async function fillWorld(openStore: (daysAgo: number) => Promise<Store>): Promise<void> {
  const past = openWorld(await openStore(60), 'default', 60)
  await past.append([started('old', { agent: 'stork' }), note('old', { n: 1 }), ended('old')])
  await past.append([
    started('cut', { agent: 'crane', threadId: 't9', subjects: ['cid'] }),
    note('cut', { n: 1 }),
    note('cut', { n: 2 }),
    event('execution.message', 'cut', { role: 'user', content: 'kept' }),
    ended('cut'),
  ])
  await past.close()

  const store = await openStore(0)
  const ledger = openWorld(store)
  const [first] = await ledger.append([
    started('plain', { agent: 'owl', agentVersion: '1', threadId: 't1', subjects: ['ann'] }),
    event('execution.message', 'plain', { role: 'user', content: 'first words' }),
    event('execution.message', 'plain', { role: 'user', content: 'other words' }),
    event('execution.step_started', 'plain', {
      stepId: 'ask#0',
      name: 'ask',
      input: 1,
      inputDigest: 'ab'.repeat(16),
    }),
    event('execution.step_completed', 'plain', { stepId: 'ask#0', name: 'ask', output: 2 }),
  ])
  await ledger.append([{ ...note('plain', { n: 6 }), causationId: first?.eventId ?? null }, ended('plain')])
  await ledger.append([
    started('child', { agent: 'mouse', parentRunId: 'plain' }),
    note('child', { said: 'of ann' }),
    ended('child'),
  ])
  await ledger.append([
    event('system.workflow_forked', 'fork', { sourceRunId: 'plain', sourceSeq: 3 }),
    note('fork', { n: 1 }),
    ended('fork'),
  ])
  for (const runId of ['shared-1', 'shared-2'])
    await ledger.append([
      started(runId, { agent: 'owl', threadId: 't2' }),
      note(runId, { items: long('shared'), own: long(runId) }),
      ended(runId),
    ])
  await ledger.append([
    started('waiting', { agent: 'owl' }),
    event('system.workflow_paused', 'waiting', { dueAt: '2100-01-01T00:00:00.000Z' }),
  ])
  await ledger.append([
    started('tagged', { agent: 'owl' }),
    event('system.tagged', 'tagged', { set: { team: 'birds' } }),
    event('system.scored', 'tagged', { target: 'run', name: 'accuracy', value: 0.5, by: 'ann' }),
    ended('tagged'),
  ])
  await ledger.append([
    event('execution.tool_call', 'tools', { name: 'look_up', arguments: { word: 'owl' } }),
  ])
  await ledger.append([
    started('secret', { agent: 'owl' }),
    { ...note('secret', { apiKey: API_KEY }), eventId: '01890000-0000-7000-8000-000000000001' },
    {
      ...note('secret', { apiKey: `${API_KEY.slice(0, -4)}zzAA` }),
      eventId: '01890000-0000-7000-8000-000000000002',
    },
    { ...note('secret', { n: 3 }), eventId: '01890000-0000-7000-8000-000000000003' },
    ended('secret'),
  ])
  await ledger.append([
    started('erased', { agent: 'owl', subjects: ['bob'], threadId: 'thread of bob' }),
    note('erased', { items: long('said by bob') }),
    ended('erased'),
  ])
  await ledger.append([
    note('letters', { n: 1 }),
    note('letters', { subjects: ['bob'], n: 2 }),
    note('letters', { n: 3 }),
    note('letters', { subjects: ['bob'], n: 4 }),
  ])
  for (const [key, subjects] of [
    ['red', []],
    ['blue', []],
    ['bob', ['bob']],
  ] as const)
    await ledger.memory.put({
      layer: 'long',
      scope: 'workspace',
      namespace: 'colours',
      key,
      value: `${key} words`,
      tags: ['tag'],
      subjects,
    })
  await ledger.memory.list({})
  await ledger.append([
    started('states', { agent: 'graph', threadId: 't3' }),
    ...Array.from({ length: 10 }, (_, n) => superstep('states', n)),
    ended('states'),
  ])
  await ledger.erase({ subject: 'bob' }, { by: 'dpo' })
  await ledger.pruneStates('states', { keep: 'windowed', window: 2 })
  await ledger.gc({
    policy: {
      rules: [
        { name: 'notes', match: { agent: 'crane', types: ['execution.note'] }, olderThan: '30d' },
        { name: 'month', match: { agent: 'stork' }, olderThan: '30d' },
      ],
    },
  })
  while ((await ledger.index()).lag > 0) continue
  const lease = await store.leases.acquire({ workspace: 'default', runId: 'waiting' }, null)
  await store.leases.release(lease)
  const cursor = { position: 5, failures: 0, error: null, movedAt: '2026-01-01T00:00:00.000Z' }
  await store.slots.put({ workspace: 'default', name: 'consumer/reader', value: cursor }, 0)
  const other = openWorld(store, 'other')
  await other.append([started('theirs', { agent: 'fox', threadId: 't1' }), ended('theirs')])
  await ledger.close()
}

/** Everything that the ledger answers, as text. */
export async function readWorld(ledger: Ledger): Promise<string> {
  const found: unknown[] = []
  const { runs } = await ledger.listRuns({ limit: 500 })
  found.push(runs)
  for (const filter of [
    { status: 'completed' },
    { status: 'pending' },
    { agent: 'owl' },
    { threadId: 't1' },
    { threadId: 't2' },
  ] as const)
    found.push((await ledger.listRuns({ ...filter, limit: 500 })).runs.map(({ runId }) => runId))
  for (const { runId } of runs) {
    const events = await Array.fromAsync(ledger.read(runId))
    found.push(events, await ledger.getSkeleton(runId))
    for (const { eventId } of events) found.push((await ledger.effects(eventId)).map((each) => each.eventId))
  }
  found.push(await Array.fromAsync(ledger.export()), (await ledger.memory.list({})).items)
  for (const query of ['words', 'tool:look*'])
    found.push((await ledger.search(query)).hits.map(({ run, events }) => [run.runId, events]))
  found.push((await ledger.memory.search('words')).length)
  return JSON.stringify(found)
}
