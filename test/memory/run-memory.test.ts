import { type Ledger, memoryRunId, type MemoryLayer } from '@clew/ledger'
import { agent, fork, MemorySaver, replay, type Run, START, StateGraph, last } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { flawsOfReplay } from '../replay/unchanged-lives.ts'
import { createLife } from '../runtime/mortal-ledger.ts'

const open = (): Ledger => createMemoryWorld().open()
const item = (layer: MemoryLayer, key: string, value: unknown = key) => ({
  layer,
  namespace: 'n',
  key,
  value,
})
const types = async (ledger: Ledger, layer: MemoryLayer, scope: string): Promise<string[]> =>
  (await Array.fromAsync(ledger.read(memoryRunId({ layer, scope })))).map(({ eventType }) => eventType)

/** Uses all of it, and what it read decides what it writes. */
const busy = agent(
  'busy',
  async (run, input: { topic: string }) => {
    await run.memory.put({ ...item('short', 'topic', input.topic), tags: ['keep'] })
    const { version } = await run.memory.put({ ...item('session', 'count', 1), ttlMs: 3_600_000 })
    await run.memory.put(item('session', 'count', 2), { ifVersion: version })
    const late = await run.memory
      .put(item('session', 'count', 3), { ifVersion: version })
      .catch(({ code }: { code: string }) => code)
    await Promise.all([
      run.memory.put({ ...item('long', 'mine'), scope: 'agent' }),
      run.memory.put(item('long', 'ours')),
      run.memory.put({ ...item('long', 'hers'), scope: 'user:ann' }),
    ])
    const topic = await run.memory.get<string>({ layer: 'short', namespace: 'n', key: 'topic' })
    const hits = await run.memory.search('ours mine', { limit: 5 })
    const { promoted } = await run.memory.promote()
    await run.memory.forget({ layer: 'long', namespace: 'n', key: 'ours' }, { reason: 'done' })
    const gone = await run.memory.forget({ layer: 'long', namespace: 'n', key: 'ours' })
    const { items } = await run.memory.list()
    const { text } = await run.memory.context({ query: input.topic, budgetTokens: 200 })
    return {
      late,
      gone,
      text,
      topic: topic?.value,
      hits: hits.map((hit) => hit.item.key).toSorted(),
      promoted: promoted.map(({ to }) => to.layer),
      items: items.map(({ layer, key }) => `${layer} ${key}`),
    }
  },
  { memory: { promote: [{ from: 'short', to: 'session', when: { tags: ['keep'] } }] } },
)

const OUTPUT = {
  late: 'conflict',
  gone: null,
  topic: 'owls',
  hits: ['mine', 'ours'],
  promoted: ['session'],
  items: ['long mine', 'long hers', 'session count', 'session topic', 'short topic'],
}
const start = { runId: 'r', threadId: 't', subjects: ['ann'] }
const WRITTEN = 'execution.memory_written'

async function checkMemoryRuns(ledger: Ledger): Promise<void> {
  expect(await types(ledger, 'short', 'r')).toEqual([WRITTEN])
  expect(await types(ledger, 'session', 't')).toEqual([WRITTEN, WRITTEN, 'execution.memory_promoted'])
  expect(await types(ledger, 'long', 'workspace')).toEqual([WRITTEN, 'execution.memory_forgotten'])
  expect(await types(ledger, 'long', 'agent:busy')).toEqual([WRITTEN])
  expect(await types(ledger, 'long', 'user:ann')).toEqual([WRITTEN])
  expect((await ledger.verify(undefined, { projections: true })).problems).toEqual([])
}

describe('run.memory', () => {
  it('D3 is read and written by effects, seen by layer, and replayed without being asked', async () => {
    const ledger = open()
    const { status, output } = await busy.start(ledger, { topic: 'owls' }, start)
    expect([status, output]).toEqual([
      'completed',
      { ...OUTPUT, text: expect.stringContaining('- n/topic: owls') },
    ])
    await checkMemoryRuns(ledger)
    // Everything is forgotten meanwhile: a replay and a fork of the end do not mind.
    for (const { layer, scope, namespace, key } of (await ledger.memory.list()).items)
      await ledger.memory.forget({ layer, scope, namespace, key })
    expect(await flawsOfReplay(busy, ledger, 'r')).toEqual([])
  })

  it('M1 tells which event of which run wrote an item', async () => {
    const ledger = open()
    await busy.start(ledger, { topic: 'owls' }, start)
    const found = await ledger.memory.get({ layer: 'long', scope: 'user:ann', namespace: 'n', key: 'hers' })
    expect(found?.provenance.runId).toBe('r')
    const [step] = await ledger.causes(found?.provenance.eventId ?? '')
    expect(step).toMatchObject({ correlationId: 'r', eventType: 'execution.step_started' })
    expect(step?.payload['name']).toBe('memory.put')
  })

  it('R5 a process that dies anywhere goes on, and nothing is written twice', async () => {
    const count = createLife(open())
    await busy.start(count.ledger, { topic: 'owls' }, start)
    expect(count.appends).toBeGreaterThan(10)
    for (let append = 1; append < count.appends; append++)
      for (const committed of [true, false]) {
        const ledger = open()
        const life = createLife(ledger, { append, committed })
        await Promise.race([busy.start(life.ledger, { topic: 'owls' }, start), life.died])
        const run = await ledger.getRun('r')
        if (run?.status !== 'completed') await busy.resume(ledger, 'r')
        expect((await ledger.getRun('r'))?.status).toBe('completed')
        for await (const { payload } of ledger.read('r', { types: ['execution.completed'] }))
          expect(payload['output']).toMatchObject(OUTPUT)
        await checkMemoryRuns(ledger)
        expect(await flawsOfReplay(busy, ledger, 'r')).toEqual([])
      }
  })

  it('R7 a fork has the short memory that its source had there, and leaves that as it is', async () => {
    const ledger = open()
    const writer = agent('writer', async (run, end: string) => {
      await run.memory.put(item('short', 'a', 1))
      await run.memory.put(item('short', 'b', 1))
      await run.memory.forget({ layer: 'short', namespace: 'n', key: 'b' })
      await run.step('middle', null, () => end)
      await run.memory.put(item('short', 'a', 2))
      await run.memory.put(item('short', 'c', end))
      const { items } = await run.memory.list({ layers: ['short'] })
      return items.map(({ key, value }) => `${key} ${String(value)}`)
    })
    const source = await writer.start(ledger, 'source', { runId: 'r' })
    expect(source.output).toEqual(['a 2', 'c source'])
    const at = { step: 'middle' }
    const first = await fork(writer, { ledger, runId: 'r', at, newRunId: 'f', input: 'fork' })
    expect(first.output).toEqual(['a 2', 'c fork'])
    const inF = await Array.fromAsync(ledger.read(memoryRunId({ layer: 'short', scope: 'f' })))
    expect(inF.map(({ payload }) => `${String(payload['key'])} ${String(payload['value'])}`)).toEqual([
      'a 1',
      'a 2',
      'c fork',
    ])
    expect(
      (await ledger.memory.list({ scopes: [{ layer: 'short', scope: 'r' }] })).items.map(
        ({ value }) => value,
      ),
    ).toEqual([2, 'source'])
    // A fork of a fork, from before it used its own memory.
    const second = await fork(writer, { ledger, runId: 'f', at, newRunId: 'g', input: 'again' })
    expect(second.output).toEqual(['a 2', 'c again'])
    expect((await replay(writer, { ledger, runId: 'f' })).verdict).toBe('identical')
  })

  it('M1 a child run has short memory of its own and the session of the run it works for', async () => {
    const ledger = open()
    const child = agent('child', async (run) => {
      await run.memory.put(item('short', 'own'))
      await run.memory.put(item('session', 'shared'))
      return (await run.memory.list()).items.map(({ layer, key }) => `${layer} ${key}`)
    })
    const parent = agent('parent', async (run) => {
      await run.memory.put(item('short', 'mine'))
      const seen = await run.child(child, null)
      return { seen, own: (await run.memory.list()).items.map(({ layer, key }) => `${layer} ${key}`) }
    })
    const { output } = await parent.start(ledger, null, { threadId: 't' })
    expect(output).toEqual({ seen: ['session shared', 'short own'], own: ['session shared', 'short mine'] })
  })

  it('P2 what was redacted when it was remembered does not block a resume', async () => {
    const ledger = open()
    const secret = `sk-${'a1B2c3D4e5F6g7H8i9J0'.repeat(2)}`
    const keeper = agent('keeper', async (run) => {
      await run.memory.put(item('short', 'note', `key ${secret}`))
      const got = await run.memory.get<string>({ layer: 'short', namespace: 'n', key: 'note' })
      await run.interrupt('Well?')
      return got?.value
    })
    const { runId } = await keeper.start(ledger, null)
    const { status, output } = await keeper.resume(ledger, runId, { answer: 'yes' })
    expect([status, output]).toEqual(['completed', expect.stringMatching(/^key \[redacted:/)])
  })

  it.each<[string, (run: Run) => Promise<unknown>, string]>([
    [
      'session memory without a thread',
      (run) => run.memory.put(item('session', 'a')),
      'belongs to no thread',
    ],
    ['an unknown layer', (run) => run.memory.put(item('medium' as 'long', 'a')), 'no layer medium'],
    [
      'an expiry in the past',
      (run) => run.memory.put({ ...item('short', 'a'), ttlMs: -1 }),
      'lies in the past',
    ],
    ['a promotion without a rule', (run) => run.memory.promote(), 'No rule says'],
  ])('M2 %s is refused, and nothing is changed', async (_, call, message) => {
    const ledger = open()
    const { error } = await agent('bad', call).start(ledger, null)
    expect([error?.code, error?.message]).toEqual(['bad_option', expect.stringContaining(message)])
    expect((await ledger.listRuns({ systemRun: 'memory' })).runs).toEqual([])
  })

  it('M2 a rule that promotes downwards is refused when the agent is made', () => {
    const rules = [{ from: 'long', to: 'short', when: { tags: ['x'] } }] as const
    expect(() => agent('down', () => 1, { memory: { promote: rules } })).toThrow('Promote upwards')
  })

  it('M1 is there in nodes of a graph, and not in a run that has no ledger', async () => {
    const graph = new StateGraph({ seen: last(0) }).addNode('remember', async (_, run) => {
      const before = await run.memory.get<number>({ layer: 'session', namespace: 'n', key: 'seen' })
      const seen = (before?.value ?? 0) + 1
      await run.memory.put(item('session', 'seen', seen))
      return { seen }
    })
    const remember = graph.addEdge(START, 'remember')
    const kept = remember.compile({ checkpointer: new MemorySaver() })
    await kept.invoke({ seen: 0 }, { threadId: 't' })
    expect((await kept.invoke({ seen: 0 }, { threadId: 't' })).state).toEqual({ seen: 2 })
    const { status, error } = await remember.compile().invoke({ seen: 0 })
    expect([status, error?.message]).toEqual([
      'failed',
      expect.stringContaining('A run without a ledger has no memory'),
    ])
  })
})
