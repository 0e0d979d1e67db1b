import { type Agent, agent, fork, replay } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { childRunIdOf } from '../../packages/runtime/src/run/child-run-id.ts'
import { eventsOf, flawsOf, KEPT_WORLDS } from './worlds.ts'

const URL_320 = `https://example.org/${'path/'.repeat(60)}`

describe.each(KEPT_WORLDS)('E4 R5 ids of child runs, %s', (_, open) => {
  const { ledger, how } = open()

  it.each([
    ['a long URL', [URL_320, `${URL_320}?b`]],
    ['control characters and broken surrogates', ['a\nb', 'a\u202eb', 'a\ud83d', '\u0000'.repeat(600)]],
    [
      'a surrogate pair where an id is cut',
      Array.from({ length: 4 }, (_none, n) => `${'x'.repeat(n)}${'😀'.repeat(300)}`),
    ],
  ])('E4 %s as key of a child of a child goes on after a pause', async (_what, keys) => {
    const leaf = agent('leaf', (run, n: number) => run.interrupt<number>(`${n}?`))
    const inner = agent('inner', (run, key: string) => run.child(leaf, keys.indexOf(key), { key }))
    const outer = agent('outer', (run) => Promise.all(keys.map((key) => run.child(inner, key, { key }))))
    const first = await outer.start(ledger, null, how)
    expect([first.status, first.pauses.length]).toEqual(['paused', keys.length])
    const answers = Object.fromEntries(first.pauses.map(({ pauseId }, n) => [pauseId, n]))
    const done = await outer.resume(ledger, first.runId, { answers, ...how })
    expect(done.output).toEqual(keys.map((_key, n) => n))
    expect(await flawsOf(ledger, first.runId)).toEqual([])
    expect(await ledger.findBelow([first.runId])).toHaveLength(keys.length)
    expect((await replay(outer, { ledger, runId: first.runId })).verdict).toBe('identical')
  })

  it('E4 80 levels of children, each with steps of its own, pause, go on and are replayed', async () => {
    let level: Agent<number, number> = agent(
      'leaf-agent',
      async (run, n: number) => n + (await run.interrupt<number>('?')),
    )
    for (let depth = 79; depth > 0; depth--) {
      const below = level
      level = agent(`level-${depth}`, async (run, n: number) => (await run.child(below, n + 1)) + 1)
    }
    const { runId, status } = await level.start(ledger, 0, how)
    expect(status).toBe('paused')
    expect((await level.resume(ledger, runId, { answer: 1000, ...how })).output).toBe(1158)
    expect((await replay(level, { ledger, runId })).verdict).toBe('identical')
  })

  it('E4 items of a map below a run with an id of full length', async () => {
    const item = agent('item', (_run, n: number) => n)
    const { status } = await item.map(ledger, [1, 2], { runId: 'm'.repeat(512) })
    expect(status).toBe('completed')
  })

  it('R5 a recorded child id wins over the one that would be computed', async () => {
    let isLeaving = new AbortController()
    const performed: string[] = []
    const child = agent('child', (run) =>
      run.effect('look', null, async () => {
        performed.push(run.runId)
        if (performed.length > 1) return 'seen'
        isLeaving.abort()
        return new Promise<string>(() => {})
      }),
    )
    const parent = agent('parent', (run) => run.child(child, null))
    const { runId } = await parent.start(ledger, null, {
      ...how,
      shutdown: { signal: isLeaving.signal, graceMs: 0 },
    })
    isLeaving = new AbortController()
    // As if another version of Clew, which named children otherwise, had recorded it.
    const other = createMemoryWorld().open()
    const [was, is] = [`${runId}/child#0`, `${runId}/named-otherwise`]
    for (const id of [runId, was])
      await other.append(
        (await eventsOf(ledger, id)).map(({ ledger: _place, ...event }) => ({
          ...event,
          correlationId: id === was ? is : id,
          payload: event.payload['childRunId'] === was ? { ...event.payload, childRunId: is } : event.payload,
        })),
        { keepStepIds: true },
      )
    const { output, status } = await parent.resume(other, runId, how)
    expect([status, output, performed]).toEqual(['completed', 'seen', [was, is]])
    expect(await other.getRun(was)).toBeNull()
    const forked = await fork(parent, { ledger: other, runId, at: { step: 'child' }, ...how })
    expect(forked.output).toBe('seen')
  })
})

describe('E4 ids of child runs', () => {
  it('E4 stay as they are where they are run ids, and are told apart where they are not', () => {
    expect(childRunIdOf('r', 'a#0')).toBe('r/a#0')
    const ids = Array.from({ length: 50 }, (_none, n) => childRunIdOf('r', `${'x'.repeat(600)}${n}`))
    expect(new Set(ids).size).toBe(50)
    for (const id of ids) expect(id.length).toBe(512)
    const bottom = Array.from({ length: 100 }).reduce<string>((id) => childRunIdOf(id, 'level#0'), 'r')
    expect(bottom.length).toBeLessThanOrEqual(512)
  })
})
