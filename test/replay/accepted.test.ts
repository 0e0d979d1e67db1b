import type { Ledger } from '@clew/ledger'
import { agent, append, fork, type Run, START, StateGraph } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { flawsOfReplay } from './unchanged-lives.ts'

const open = (): Ledger => createMemoryWorld().open()

interface Version {
  readonly names: readonly string[]
  readonly prompt?: string
}

const BEFORE: Version = { names: ['plan', 'write'] }

async function work(run: Run, { names, prompt = 'short' }: Version, done: string[]): Promise<string[]> {
  const said: string[] = []
  for (const name of names)
    said.push(
      await run.effect(name, { prompt }, () => {
        done.push(name)
        return `${name} ${prompt}`
      }),
    )
  said.push(await run.interrupt<string>('Go on?'))
  return said
}

const writer = (version: Version, done: string[] = []) => agent('writer', (run) => work(run, version, done))

describe('D2 a resume that diverges', () => {
  it.each<[string, Version, string[]]>([
    ['another input', { ...BEFORE, prompt: 'long' }, ['plan', 'write']],
    ['another step in place of one', { names: ['plan', 'compose'] }, ['compose']],
    ['one step less', { names: ['plan'] }, []],
    ['other steps before', { names: ['look', 'think', 'plan'] }, ['look', 'think']],
  ])(
    'D2 %s: is blocked; accepted, it goes on with what is new, and nothing of the record is lost',
    async (...given) => {
      const [, version, expected] = given
      const ledger = open()
      const { runId } = await writer(BEFORE).start(ledger, null)
      const before = await Array.fromAsync(ledger.read(runId))
      const done: string[] = []
      const blocked = await writer(version, done).resume(ledger, runId, { answer: 'yes' })
      expect([blocked.status, done]).toEqual(['blocked', []])
      const accepted = await writer(version, done).resume(ledger, runId, {
        onDivergence: 'accept',
        by: 'ann',
      })
      expect([accepted.status, done]).toEqual(['completed', expected])
      const said = version.names.map((name) => `${name} ${version.prompt ?? 'short'}`)
      expect(accepted.output).toEqual([...said, 'yes'])
      const events = await Array.fromAsync(ledger.read(runId))
      expect(events.slice(0, before.length)).toEqual(before)
      const { payload } = events.find(({ eventType }) => eventType === 'system.divergence_accepted') ?? {}
      expect(payload).toMatchObject({ by: 'ann' })
      expect((await ledger.verify(runId, { projections: true })).problems).toEqual([])
      expect(await flawsOfReplay(writer(version), ledger, runId)).toEqual([])
    },
  )

  it('D2 fork here: the run stays blocked as it is, the fork goes on', async () => {
    const ledger = open()
    const { runId } = await writer(BEFORE).start(ledger, null)
    const version = { names: ['plan', 'compose'] }
    const blocked = await writer(version).resume(ledger, runId, { answer: 'yes' })
    const at = { step: blocked.divergence?.stepId as string }
    const forked = await fork(writer(version), { ledger, runId, at, newRunId: 'fork' })
    expect(forked.status).toBe('paused')
    const { status } = await writer(version).resume(ledger, 'fork', { answer: 'fine' })
    expect([status, (await ledger.getRun(runId))?.status]).toEqual(['completed', 'blocked'])
    expect(await flawsOfReplay(writer(version), ledger, 'fork')).toEqual([])
    expect(await flawsOfReplay(writer(BEFORE), ledger, runId)).toEqual([])
  })

  it('D2 what the original code began it can still end', async () => {
    const ledger = open()
    const { runId } = await writer(BEFORE).start(ledger, null)
    await writer({ names: ['other'] }).resume(ledger, runId, { answer: 'yes' })
    const { status } = await writer(BEFORE).resume(ledger, runId, { onDivergence: 'accept' })
    expect(status).toBe('completed')
    const types = (await Array.fromAsync(ledger.read(runId))).map(({ eventType }) => eventType)
    expect(types).not.toContain('system.divergence_accepted')
  })

  it('D2 in the body of a node, and in a child run', async () => {
    const ledger = open()
    const graph = (version: Version, done: string[]) =>
      new StateGraph({ said: append<string>() })
        .addNode('first', () => ({ said: 'first' }))
        .addNode('work', async (_, run) => ({ said: await work(run, version, done) }))
        .addNode('kid', async (_, run) => ({ said: await run.child(writer(version, done), null) }))
        .addEdge(START, 'first')
        .addEdge('first', 'work')
        .addEdge('work', 'kid')
        .compile({ checkpointer: ledger })
    const { runId } = await graph(BEFORE, []).invoke({})
    const version = { names: ['plan', 'compose'] }
    const done: string[] = []
    const options = { answer: 'yes', onDivergence: 'accept' } as const
    await graph(version, done).resume({ runId }, options)
    expect(done).toEqual(['compose', 'plan', 'compose'])
    const { status, state } = await graph(version, done).resume({ runId }, options)
    expect([status, state.said]).toEqual([
      'completed',
      ['first', 'plan short', 'compose short', 'yes', 'plan short', 'compose short', 'yes'],
    ])
    expect(await flawsOfReplay(graph(version, []), ledger, runId)).toEqual([])
  })

  it('D2 siblings in the superstep that had ended are given back, and not run again', async () => {
    const ledger = open()
    let looks = 0
    const graph = (version: Version) =>
      new StateGraph({ said: append<string>() })
        .addNode('look', (_, run) => run.effect('look', 1, () => ({ said: `look ${++looks}` })))
        .addNode('work', async (_, run) => ({ said: await work(run, version, []) }))
        .addNode('end', ({ said }) => ({ said: `${said.length}` }))
        .addEdge(START, 'look')
        .addEdge(START, 'work')
        .addEdge(['look', 'work'], 'end')
        .compile({ checkpointer: ledger })
    const { runId } = await graph(BEFORE).invoke({})
    const version = { names: ['plan', 'compose'] }
    const options = { answer: 'yes', onDivergence: 'accept' } as const
    const { status, state } = await graph(version).resume({ runId }, options)
    expect([status, state.said, looks]).toEqual([
      'completed',
      ['look 1', 'plan short', 'compose short', 'yes', '4'],
      1,
    ])
    expect(await flawsOfReplay(graph(version), ledger, runId)).toEqual([])
  })
})
