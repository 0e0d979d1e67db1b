import { agent, append, last, replay, type Run, START, StateGraph } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife, unheard } from '../runtime/mortal-ledger.ts'
import { flawsOf, stepsOf } from '../runtime/worlds.ts'
import { json, startServer } from '../tape/server.ts'
import { CASE, OTHER_CASE, RULE_CHANGES } from './rule-changes.ts'

describe.each(RULE_CHANGES)('a redaction rule is %s between recording and resume', (_, { before, after }) => {
  it('R5 D2 a function goes on from its record and replays: inputs, names and keys with what the rule takes out', async () => {
    const { open } = createMemoryWorld()
    const called: string[] = []
    const call = (name: string) => (): string => {
      called.push(name)
      return name
    }
    const clerk = agent('clerk', async (run: Run) => {
      const input = {
        at: new Date(0),
        note: `about ${CASE}, and ${OTHER_CASE}`,
        list: [{ [`n ${CASE}`]: 1 }],
      }
      await run.effect('look', input, call('look'))
      await run.effect('send', 1, call('first'), { key: CASE })
      await run.effect('send', 1, call('second'), { key: OTHER_CASE })
      await run.effect(`open ${CASE}`, null, call('open'))
      await run.step(`file ${CASE}`, CASE, async (_given, inner) => {
        await inner.effect('inside', CASE, call('inside'), { key: `a/${CASE}` })
        await inner.interrupt('Go on?')
        return null
      })
      return run.effect('end', CASE, call('end'))
    })
    const { runId, status } = await clerk.start(open('default', before), null)
    expect(status).toBe('paused')
    const ledger = open('default', after)
    const result = await clerk.resume(ledger, runId, { answer: 1 })
    expect([result.status, result.divergence, result.output]).toEqual(['completed', null, 'end'])
    expect(called).toEqual(['look', 'first', 'second', 'open', 'inside', 'end'])
    expect(await flawsOf(ledger, runId)).toEqual([])
    const report = await replay(clerk, { ledger, runId, graceMs: 30 })
    expect([report.verdict, report.divergences]).toEqual(['identical', []])
  })

  it('R10 an effect that a crash caught is repeated under its idempotency key', async () => {
    const { open } = createMemoryWorld()
    const keys: string[] = []
    const asking = agent('asking', (run: Run) =>
      run.effect('ask', { q: CASE }, (_input, call) => keys.push(call.idempotencyKey), { key: CASE }),
    )
    const life = createLife(open('default', before), { append: 2, committed: false })
    unheard(asking.start(life.ledger, null, { runId: 'r' }))
    await life.died
    expect((await asking.resume(open('default', after), 'r')).status).toBe('completed')
    expect([keys.length, new Set(keys).size]).toEqual([2, 1])
  })

  it('R2 an attempt of a body is given what the attempt before it had completed', async () => {
    const { open } = createMemoryWorld()
    let looked = 0
    let isFirst = true
    const retried = agent('retried', (run: Run) =>
      run.step(
        'body',
        CASE,
        async (_none, inner) => {
          await inner.effect('look', { q: CASE }, () => ++looked)
          if (isFirst) {
            isFirst = false
            throw new Error('once more')
          }
          await inner.interrupt('Go on?')
          return 'done'
        },
        { retry: { tries: 3, delayMs: 0 } },
      ),
    )
    const { runId } = await retried.start(open('default', before), null)
    const ledger = open('default', after)
    expect((await retried.resume(ledger, runId, { answer: 1 })).status).toBe('completed')
    expect(looked).toBe(1)
    isFirst = true
    const report = await replay(retried, { ledger, runId, graceMs: 30 })
    expect([report.verdict, report.divergences]).toEqual(['identical', []])
  })

  it('R5 a graph killed in the middle of a superstep goes on, and what it had completed is not done again', async () => {
    const { open } = createMemoryWorld()
    const done: string[] = []
    const make = (ledger: ReturnType<typeof open>, isDead: () => boolean) =>
      new StateGraph({ out: append<string>(), n: last(0) })
        .addNode('left', async (_state, run) => {
          await run.effect('look', { q: CASE }, () => void (isDead() || done.push('left')), { key: CASE })
          return { out: 'left' }
        })
        .addNode('right', async (_state, run) => {
          await run.effect('look', { q: `of ${CASE}` }, () => void (isDead() || done.push('right')))
          await run.effect('after', { q: CASE }, () => void (isDead() || done.push('after')))
          return { n: 1 }
        })
        .addNode('end', ({ out, n }) => ({ out: `${out.join()} ${n}` }))
        .addEdge(START, 'left')
        .addEdge(START, 'right')
        .addEdge('left', 'end')
        .compile({ name: 'pair', checkpointer: ledger })
    let ends = 0
    for (let append = 1; append < 12; append++)
      for (const committed of [false, true]) {
        done.length = 0
        const runId = `r-${append}-${committed}`
        const life = createLife(open('default', before), { append, committed })
        const first = make(life.ledger, () => life.isDead).invoke({}, { runId, threadId: runId })
        if ((await Promise.race([first, life.died])) !== 'died') continue
        const ledger = open('default', after)
        if ((await ledger.getRun(runId))?.endedAt) continue
        const result = await make(ledger, () => false).resume({ runId })
        expect([runId, result.status, result.divergence]).toEqual([runId, 'completed', null])
        expect(result.state.out.at(-1)).toBe('left 1')
        expect(await flawsOf(ledger, runId)).toEqual([])
        const report = await replay(
          make(ledger, () => false),
          { ledger, runId, graceMs: 30 },
        )
        expect([runId, report.verdict, report.divergences]).toEqual([runId, 'identical', []])
        ends++
      }
    expect(ends).toBeGreaterThan(5)
  })

  it('R5 D2 the state of a graph with what the rule takes out is no other input for its nodes', async () => {
    const { open } = createMemoryWorld()
    const make = (ledger: ReturnType<typeof open>) =>
      new StateGraph({ of: last(''), list: append<string>(), out: last('') })
        .addNode('look', async ({ of }, run) => ({
          out: await run.effect('look', { of }, () => `${of.length} letters`),
        }))
        .addEdge(START, 'look')
        .compile({ name: 'stateful', checkpointer: ledger })
    const input = { of: CASE, list: [CASE, 'x'] }
    let resumed = 0
    for (let append = 1; append < 5; append++) {
      const runId = `r-${append}`
      const life = createLife(open('default', before), { append, committed: true })
      const first = make(life.ledger).invoke(input, { runId })
      await Promise.race([first, life.died])
      const ledger = open('default', after)
      if (!(await ledger.getRun(runId))?.endedAt) {
        const result = await make(ledger).resume({ runId })
        // P2: what the record has without its secret is not handed to a node.
        const isWhole = before.redact.rules.length === 0
        expect([runId, result.status, result.divergence?.kind]).toEqual(
          isWhole ? [runId, 'completed', undefined] : [runId, 'blocked', 'redacted'],
        )
        resumed++
        if (!isWhole) continue
      }
      const report = await replay(make(ledger), { ledger, runId, graceMs: 30 })
      expect([runId, report.verdict, report.divergences]).toEqual([runId, 'identical', []])
    }
    expect(resumed).toBeGreaterThan(0)
  })

  it('D4 what was fetched is given back from the tape, and no request is sent again', async () => {
    const { open } = createMemoryWorld()
    await using server = await startServer((_seen, response) => json(response, { found: 3 }))
    const fetching = agent(
      'fetching',
      async (run: Run) => {
        const response = await fetch(`${server.url}/search?q=${CASE}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-case': CASE },
          body: JSON.stringify({ case: CASE, note: `see ${CASE}` }),
        })
        const { found } = (await response.json()) as { found: number }
        const plain = (await (await fetch(`${server.url}/look/${CASE}`)).json()) as { found: number }
        await run.interrupt('Go on?')
        return found + plain.found
      },
      { recordFetch: true },
    )
    const { runId } = await fetching.start(open('default', before), null)
    expect(server.seen.length).toBe(2)
    await server.close()
    const ledger = open('default', after)
    const result = await fetching.resume(ledger, runId, { answer: 1 })
    expect([result.status, result.divergence, result.output]).toEqual(['completed', null, 6])
    const report = await replay(fetching, { ledger, runId, graceMs: 30 })
    expect([report.verdict, report.divergences]).toEqual(['identical', []])
  })

  it('R8 a map gives back its completed items, and tells those apart that differ in what the rule takes out', async () => {
    const { open } = createMemoryWorld()
    const done: string[] = []
    const filing = (ledger: ReturnType<typeof open>) =>
      new StateGraph({ of: last(''), out: last(0) })
        .addNode('file', async ({ of }, run) => {
          if (of === 'wait') await run.interrupt('Go on?')
          done.push(of)
          return { out: done.length, of: '' }
        })
        .addEdge(START, 'file')
        .compile({ name: 'filing', checkpointer: ledger })
    const [one, two, wait] = [{ of: CASE }, { of: OTHER_CASE }, { of: 'wait' }]
    const first = await filing(open('default', before)).map([one, two, wait], { runId: 'm' })
    expect([first.status, first.column('out')]).toEqual(['paused', [1, 2, undefined]])
    const [pause] = first.items[2]?.pauses ?? []
    const second = await filing(open('default', after)).map([two, one, wait], {
      runId: 'm',
      answers: { [pause?.pauseId ?? '']: 1 },
    })
    expect([second.status, second.column('out')]).toEqual(['completed', [2, 1, 3]])
    expect(done).toEqual([CASE, OTHER_CASE, 'wait'])
  })

  it('R3 a result that was kept for equal inputs is found', async () => {
    const { open } = createMemoryWorld()
    let made = 0
    const caching = agent('caching', (run: Run) =>
      run.step('make', { of: CASE }, () => ++made, { cache: true }),
    )
    await caching.start(open('default', before), null)
    const result = await caching.start(open('default', after), null)
    expect([result.output, made]).toEqual([1, 1])
  })

  it('R5 a thread that is named by what the rule takes out goes on from its last turn', async () => {
    const { open } = createMemoryWorld()
    const make = (ledger: ReturnType<typeof open>) =>
      new StateGraph({ said: append<string>() })
        .addNode('hear', ({ said }) => ({ said: `heard ${said.length}` }))
        .addEdge(START, 'hear')
        .compile({ name: 'talk', checkpointer: ledger })
    const first = await make(open('default', before)).invoke({ said: 'a' }, { threadId: CASE })
    const ledger = open('default', after)
    const graph = make(ledger)
    const second = await graph.invoke({ said: 'b' }, { threadId: CASE })
    expect(second.state.said).toEqual(['a', 'heard 1', 'b', 'heard 3'])
    const third = await graph.invoke({ said: 'c' }, { threadId: CASE })
    expect(third.state.said.length).toBe(6)
    expect((await graph.getState({ threadId: CASE }))?.state.said.length).toBe(6)
    for (const limit of [1, 2, 3]) {
      const runIds: string[] = []
      for (let cursor: string | undefined; ; ) {
        const { runs, nextCursor } = await ledger.listRuns({ threadId: CASE, limit, cursor })
        runIds.push(...runs.map(({ runId }) => runId))
        cursor = nextCursor ?? undefined
        if (cursor === undefined) break
      }
      expect(runIds).toEqual([third.runId, second.runId, first.runId])
    }
    for (const runId of [first.runId, second.runId]) {
      const report = await replay(graph, { ledger, runId, graceMs: 30 })
      expect([report.verdict, report.divergences]).toEqual(['identical', []])
    }
  })

  it('R9 no two runs work on one thread at once, whichever spelling of it is recorded', async () => {
    const { open } = createMemoryWorld()
    const [one, two] = [open('default', before), open('default', after)]
    const waiting = agent('waiting', async (run: Run) => {
      await run.effect('wait', null, async () => {
        const other = agent('other', () => Promise.resolve(1))
        await expect(other.start(two, null, { threadId: CASE })).rejects.toMatchObject({ code: 'busy' })
      })
      return 1
    })
    expect((await waiting.start(one, null, { threadId: CASE })).status).toBe('completed')
  })

  it('R5 M1 a run remembers in its thread and of its subject, also when it is taken up again', async () => {
    const { open } = createMemoryWorld()
    const remembering = agent('remembering', async (run: Run) => {
      await run.memory.put({ layer: 'session', namespace: 'n', key: CASE, value: 1 })
      await run.interrupt('Go on?')
      return (await run.memory.get({ layer: 'session', namespace: 'n', key: CASE }))?.value
    })
    const { runId } = await remembering.start(open('default', before), null, {
      threadId: CASE,
      subjects: [CASE],
    })
    const ledger = open('default', after)
    const result = await remembering.resume(ledger, runId, { answer: 1 })
    expect([result.status, result.divergence, result.output]).toEqual(['completed', null, 1])
    const item = await ledger.memory.get({ layer: 'session', scope: CASE, namespace: 'n', key: CASE })
    expect(item?.value).toBe(1)
  })
})

describe('names that redaction changes', () => {
  it('P2 stand in the record by a keyed digest: without the kind of a rule, and without the name', async () => {
    const { open } = createMemoryWorld()
    const [, { before }] = RULE_CHANGES[0] as (typeof RULE_CHANGES)[number]
    const ledger = open('default', before)
    const keyed = agent('keyed', (run: Run) => run.effect('send', 1, () => 1, { key: CASE }))
    const { runId } = await keyed.start(ledger, null, { threadId: CASE, subjects: [CASE] })
    const [step] = await stepsOf(ledger, runId)
    expect(step).toMatch(/^send@id-[0-9a-f]{20} 1 completed$/)
    const run = await ledger.getRun(runId)
    expect(run?.threadId).toMatch(/^id-[0-9a-f]{20}$/)
    expect(run?.subjects).toEqual([run?.threadId])
    const lines = (await Array.fromAsync(ledger.export())).join('')
    expect(lines).not.toContain(CASE)
    expect(JSON.stringify(await ledger.leases.list())).not.toContain(CASE)
  })
})
