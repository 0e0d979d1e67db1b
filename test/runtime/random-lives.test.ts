import { agent, type StepError } from '@clew/runtime'
import * as fc from 'fast-check'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { checkRun } from '../catalogue/drive.ts'
import { createOutside, type Program } from '../catalogue/random-programs.ts'
import { findFlaws, findForkFlaws, scenarios } from './lives.ts'
import { createLife, type Fault } from './mortal-ledger.ts'
import { numRuns } from '../num-runs.ts'
import { createWorld, toAgent } from './random-agents.ts'
import { savedLives } from './saved-lives.ts'
import { createLatch, flawsOf } from './worlds.ts'

const open = async () => createMemoryWorld().open()

describe('R5 random agents, killed anywhere', () => {
  it('R5 R10 come to the same end as when nobody kills them', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        expect(await findFlaws(scenario, open)).toEqual([])
      }),
      { numRuns: numRuns(40) },
    )
  })
})

describe('R7 random agents, forked anywhere', () => {
  it('R7 come to the same end, and do nothing again that was on record', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        expect(await findForkFlaws(scenario, open)).toEqual([])
      }),
      { numRuns: numRuns(40) },
    )
  })
})

describe('R5 R7 agents that came out wrong once', () => {
  it.each(savedLives)('%s', async (_, scenario) => {
    expect(await findFlaws(scenario, open)).toEqual([])
    expect(await findForkFlaws(scenario, open)).toEqual([])
  })

  it('D3 stopped as it is taken up again, a run leaves nothing open, wherever its process died', async () => {
    const effect = { op: 'effect', turns: 0, failsUntil: 0 } as const
    const body: Program = [
      { ...effect, name: 'a', safety: 'read' },
      { ...effect, name: 'b', safety: 'write' },
    ]
    const program: Program = [
      { op: 'nested', name: 'a', tries: 1, body },
      { op: 'child', name: 'b', body: [...body, { op: 'child', name: 'c', body }] },
    ]
    let stopped = 0
    for (let append = 1; ; append++) {
      const ledger = await open()
      const world = createWorld()
      const life = createLife(ledger, { append, committed: true })
      world.isDead = () => life.isDead
      const first = toAgent(program, world).start(life.ledger, { acc: 1 }, { runId: 'run' })
      if ((await Promise.race([first, life.died])) !== 'died') break
      if ((await ledger.getRun('run'))?.endedAt === null) {
        const stop = new AbortController()
        const how = { signal: stop.signal, listener: { event: () => stop.abort() } }
        const { status } = await toAgent(program, createWorld()).resume(ledger, 'run', how)
        expect(status).toBe('stopped')
        stopped++
      }
      for (const { runId } of (await ledger.listRuns({ limit: 10 })).runs)
        expect(await checkRun(ledger, runId, createOutside())).toEqual([])
    }
    expect(stopped).toBeGreaterThan(15)
  })

  it.each(['pauses', 'works'])(
    'D3 R3 a child run that %s when its time is over is stopped with it',
    async (how) => {
      const ledger = await open()
      const late = createLatch()
      const inner = agent('inner', async (run) => {
        if (how === 'pauses') await run.interrupt('Well?')
        else
          await run.effect('waits', {}, async (_, { signal }) => {
            await once(signal, 'abort')
            return null
          })
        return null
      })
      const outer = agent('outer', async (run) => {
        const other = run.effect('other', {}, async () => {
          await late.opened
          return null
        })
        const options = { timeoutMs: 20, retry: { tries: 2, delayMs: 0 } }
        const code = await run.child(inner, {}, options).catch((error: StepError) => error.code)
        late.open()
        await other
        return code
      })
      const { output } = await outer.start(ledger, {}, { runId: 'run' })
      expect(output).toBe('timeout')
      const { runs } = await ledger.listRuns({ limit: 10 })
      const statuses = runs.map(({ runId, status }) => `${runId} ${status}`).toSorted()
      expect(statuses).toEqual(['run completed', 'run/inner#0 stopped', 'run/inner#0~2 stopped'])
      expect(await flawsOf(ledger, 'run')).toEqual([])
    },
  )
})

describe('the oracle goes red when a resume', () => {
  const faults: readonly Fault[] = ['forgets ends', 'ends in other order', 'does not reserve writes']
  it.each(faults)('%s', async (fault) => {
    const flaws: string[] = []
    for (const scenario of fc.sample(scenarios, { numRuns: 300, seed: 9 }))
      if (flaws.length === 0) flaws.push(...(await findFlaws(scenario, open, fault)))
    expect(flaws).not.toEqual([])
  })
})
