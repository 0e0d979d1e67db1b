import { type Ledger, foreignType } from '@clew/ledger'
import { agent, END, replay, type Run, START, StateGraph, last } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { createLife } from './mortal-ledger.ts'

const OWN = /^execution\.(?:message|handoff|decision|structured_output|note)$/

async function saidIn(ledger: Ledger, runId: string) {
  const said: { type: string; payload: object; cause: string | null; id: string }[] = []
  const types = new Map<string, string>()
  for await (const { eventType, payload, causationId, eventId } of ledger.read(runId)) {
    types.set(eventId, `${eventType}${typeof payload['stepId'] === 'string' ? ` ${payload['stepId']}` : ''}`)
    if (OWN.test(eventType))
      said.push({
        type: eventType,
        payload,
        cause: types.get(causationId ?? '') ?? null,
        id: eventId,
      })
  }
  return said
}

const talk = async (run: Run, words: string): Promise<string> => {
  run.say({ role: 'user', content: 'Owls?' })
  const found = await run.effect('search', 1, () => 'Two owls')
  run.say(`${words}: ${found}`)
  run.decide('write', 'there is enough')
  await run.step('inner', 1, async (_, inner) => {
    inner.record(foreignType('execution.note'), { text: 'noted' })
    await inner.sleep(0)
    inner.output({ owls: 2 })
  })
  run.handoff('writer', { reason: 'to write it down' })
  return found
}

describe('what an agent says of itself', () => {
  it('V11 tags its run, once over a resume, and null removes a tag', async () => {
    const ledger = createMemoryWorld().open()
    const desk = agent('desk', async (run: Run) => {
      run.tag({ customer: 'acme', draft: 'yes' })
      await run.interrupt('Go on?')
      run.tag({ draft: null })
    })
    const { runId } = await desk.start(ledger, null, { tags: { env: 'prod' } })
    expect((await ledger.getRun(runId))?.tags).toEqual({ env: 'prod', customer: 'acme', draft: 'yes' })
    await desk.resume(ledger, runId, { answer: 'yes' })
    expect((await ledger.listRuns({ q: 'customer:acme env:prod -tag:draft' })).runs).toHaveLength(1)
    const said: string[] = []
    for await (const { eventType } of ledger.read(runId))
      if (eventType === 'system.tagged') said.push(eventType)
    expect(said).toHaveLength(2)
    expect((await replay(desk, { ledger, runId })).verdict).toBe('identical')
  })

  it('R13 is recorded in order, with what woke the code as its cause', async () => {
    const ledger = createMemoryWorld().open()
    const { runId, status } = await agent('owl', talk).start(ledger, 'Found')
    expect(status).toBe('completed')
    const said = await saidIn(ledger, runId)
    expect(said.map(({ type, payload, cause }) => [type, payload, cause])).toMatchObject(
      [
        ['execution.message', { role: 'user', content: 'Owls?' }, 'system.workflow_started'],
        [
          'execution.message',
          { role: 'assistant', content: 'Found: Two owls' },
          'execution.step_completed search#0',
        ],
        [
          'execution.decision',
          { choice: 'write', reason: 'there is enough' },
          'execution.step_completed search#0',
        ],
        ['execution.note', { text: 'noted', stepId: 'inner#0' }, 'execution.step_started inner#0'],
        ['execution.structured_output', { value: { owls: 2 } }, /sleep/],
        ['execution.handoff', { to: 'writer', reason: 'to write it down' }, /./],
      ].map(([type, payload, cause]) => [
        type,
        payload,
        cause instanceof RegExp ? expect.any(String) : cause,
      ]),
    )
    const { entries } = await ledger.transcript(runId)
    expect(entries.map(({ kind }) => kind)).toEqual([
      'start',
      'message',
      'tool_call',
      'message',
      'decision',
      'structured_output',
      'handoff',
      'end',
    ])
    expect(entries.find(({ kind }) => kind === 'handoff')).toMatchObject({ from: 'owl', to: 'writer' })
    expect(await replay(agent('owl', talk), { ledger, runId })).toMatchObject({ verdict: 'identical' })
  })

  it('R13 R5 is written once, however often the run is given up and taken up', async () => {
    const ledger = createMemoryWorld().open()
    const { runId } = await agent('owl', talk).start(ledger, 'Found', { suspendAlways: true })
    const said = await saidIn(ledger, runId)
    expect(said.map(({ type }) => type.slice('execution.'.length))).toEqual([
      'message',
      'message',
      'decision',
      'note',
      'structured_output',
      'handoff',
    ])
    expect(new Set(said.map(({ id }) => id)).size).toBe(6)
    expect(await replay(agent('owl', talk), { ledger, runId })).toMatchObject({ verdict: 'identical' })
  })

  it('R13 D2 other words, words left out and words put in are found by a replay', async () => {
    const ledger = createMemoryWorld().open()
    const { runId } = await agent('owl', talk).start(ledger, 'Found')
    const changed = async (code: (run: Run, words: string) => Promise<string>) => {
      const { verdict, divergences } = await replay(agent('owl', code), { ledger, runId })
      return [verdict, divergences[0]?.kind]
    }
    expect(await changed((run) => talk(run, 'Saw'))).toEqual(['diverged', 'output'])
    const more = async (run: Run, words: string): Promise<string> => {
      const found = await talk(run, words)
      run.say('Bye')
      return found
    }
    expect(await changed(more)).toEqual(['diverged', 'extra'])
    const later = await agent('owl', more).start(ledger, 'Found')
    const { verdict, divergences } = await replay(agent('owl', talk), { ledger, runId: later.runId })
    expect([verdict, divergences[0]?.kind]).toEqual(['diverged', 'missing'])
  })

  it('R13 R5 other words on resume block the run before it does anything new', async () => {
    const ledger = createMemoryWorld().open()
    let done = 0
    const asking = (words: string) =>
      agent('asks', async (run) => {
        run.say(words)
        await run.interrupt('go on?')
        await run.effect('act', 1, () => ++done)
        return run.now() > 0
      })
    const { runId, status } = await asking('One').start(ledger, null)
    expect(status).toBe('paused')
    const blocked = await asking('Two').resume(ledger, runId, { answer: 'yes' })
    expect([blocked.status, blocked.divergence?.kind, done]).toEqual(['blocked', 'output', 0])
    const accepted = await asking('Two').resume(ledger, runId, { onDivergence: 'accept' })
    expect([accepted.status, done]).toEqual(['completed', 1])
    expect((await saidIn(ledger, runId)).map(({ payload }) => payload)).toMatchObject([
      { content: 'One' },
      { content: 'Two' },
    ])
  })

  it('R13 nodes of graphs say what they did; a fork says it for itself', async () => {
    const ledger = createMemoryWorld().open()
    const graph = new StateGraph({ n: last(0) })
      .addNode('a', async ({ n }, run) => {
        run.say(`a ${n}`)
        await run.sleep(0)
        run.decide(n)
        return { n: n + 1 }
      })
      .addNode('b', ({ n }, run) => {
        run.say(`b ${n}`)
        return { n: n + 1 }
      })
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', END)
      .compile({ checkpointer: ledger, name: 'says' })
    const { runId } = await graph.invoke({ n: 1 }, { threadId: 't' })
    expect((await saidIn(ledger, runId)).map(({ payload }) => payload)).toMatchObject([
      { content: 'a 1', stepId: 'a@s1' },
      { choice: 1, stepId: 'a@s1' },
      { content: 'b 2', stepId: 'b@s2' },
    ])
    expect(await replay(graph, { ledger, runId })).toMatchObject({ verdict: 'identical' })
    const fork = await graph.fork({ runId, at: { superstep: 1 }, update: { n: 7 } })
    const said = await saidIn(ledger, fork.runId)
    expect(said.map(({ payload }) => payload)).toMatchObject([
      { content: 'a 1' },
      { choice: 1 },
      { content: 'b 7' },
    ])
  })

  it('R13 what the code said is on record before the end of the body around, wherever its process died', async () => {
    const says = agent('says', (run) =>
      run.step(
        'outer',
        null,
        async (_, outer) => {
          await outer.effect('look', null, () => 'seen')
          await outer.step('inner', null, async (_input, inner) => {
            await inner.effect('look', null, () => 'seen')
            void inner.effect('other', null, () => null)
            inner.say('inside')
          })
          outer.say('outside')
          await outer.effect('gate', null, (_input, { attempt }) => {
            if (attempt === 1) throw new Error('not yet')
          })
        },
        { retry: { tries: 2, delayMs: 0 } },
      ),
    )
    let died = 0
    for (let first = 1; ; first++) {
      let isEnded = false
      // The second life dies soon after it has taken the run up.
      for (let second = 1; second < 8; second++) {
        const ledger = createMemoryWorld().open()
        const life = createLife(ledger, { append: first, committed: true })
        const run = says.start(life.ledger, null, { runId: 'r' })
        isEnded = (await Promise.race([run, life.died])) !== 'died'
        if (isEnded || !(await ledger.getRun('r'))) break
        died++
        const next = createLife(ledger, { append: second, committed: true })
        const goOn = async (on: Ledger) =>
          (await ledger.getRun('r'))?.endedAt === null && says.resume(on, 'r')
        await Promise.race([goOn(next.ledger), next.died])
        await goOn(ledger)
        const { verdict, divergences } = await replay(says, { ledger, runId: 'r' })
        expect([first, second, verdict, divergences]).toEqual([first, second, 'identical', []])
      }
      if (isEnded) break
    }
    expect(died).toBeGreaterThan(30)
  })

  it('R13 what is no message, no type or no value is refused where it is said', async () => {
    const ledger = createMemoryWorld().open()
    const refusal = async (code: (run: Run) => unknown): Promise<string | undefined> => {
      const { error } = await agent('wrong', async (run) => void code(run)).start(ledger, null)
      return error?.message
    }
    expect(await refusal((run) => run.say({ role: 'owl', content: 'x' } as never))).toMatch(
      /^run\.say\(\) was given no message/,
    )
    expect(await refusal((run) => run.record('note' as never))).toMatch(/^"note" is no event type/)
    expect(await refusal((run) => run.record('execution.step_started', { stepId: 'x', name: 'x' }))).toMatch(
      /^Events of the type execution\.step_started are recorded by the run itself/,
    )
    expect(await refusal((run) => run.record(foreignType('execution.note'), { clock: 1 }))).toMatch(
      /^The field clock/,
    )
    expect(await refusal((run) => run.output((() => 1) as never))).toMatch(/function/)
    expect(await refusal((run) => run.effect('x', 1, () => run.say('inside')))).toBeUndefined()
  })
})
