import type { Ledger } from '@clew/ledger'
import * as fc from 'fast-check'
import { fork } from '@clew/runtime'
import { openLedger } from 'clew'
import { describe, expect, it } from 'vitest'
import { numRuns } from '../num-runs.ts'
import { scenarios as graphScenarios, live as liveGraph } from '../runtime/graph-lives.ts'
import { createWorld as createGraphWorld, toGraph, type World } from '../runtime/random-graphs.ts'
import { live, oneLife, scenarios } from '../runtime/lives.ts'
import { createWorld, toAgent } from '../runtime/random-agents.ts'
import { sendWhatIsAwaited } from '../runtime/signal-sender.ts'
import { savedLives } from '../runtime/saved-lives.ts'
import { flawsOfReplay } from './unchanged-lives.ts'

/** What lies outside is not replayed: bodies that fail at first must find it as their recorded attempts did. */
async function worldAsRecorded(ledger: Ledger): Promise<World> {
  const world = createGraphWorld()
  for (const { nodeName, status, attempt, values } of await ledger.getSteps('run')) {
    const [, round] = /^\S+ (\d+) after/.exec(String((values as { log?: unknown } | null)?.log)) ?? []
    if (status === 'completed' && attempt === 1 && round !== undefined)
      world.failed.add(`run ${nodeName} ${round}`)
  }
  return world
}

const killsOf = (deaths: readonly { share: number; committed: boolean }[], appends: number) =>
  deaths.map(({ share, committed }) => ({ append: Math.floor((share * appends) / 1000), committed }))

describe('D1 the code that a run was recorded with', () => {
  it('D1 D3 is identical: random agents, killed anywhere and resumed', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const ledger = await openLedger('memory:')
        const straight = await live(scenario, ledger, [])
        const target = toAgent(scenario.program, createWorld(), scenario.durability)
        expect(await flawsOfReplay(target, ledger, 'run')).toEqual([])
        const killed = await openLedger('memory:')
        await live(scenario, killed, killsOf(scenario.deaths, straight.lived.appends))
        expect(await flawsOfReplay(target, killed, 'run')).toEqual([])
        await ledger.close()
        await killed.close()
      }),
      { numRuns: numRuns(100) },
    )
  })

  it('D1 R7 is identical: random agents, forked anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const ledger = await openLedger('memory:')
        await live(scenario, ledger, [])
        const events = await Array.fromAsync(ledger.read('run'))
        const sender = sendWhatIsAwaited(ledger)
        for (const [n, { share }] of scenario.deaths.entries()) {
          const world = createWorld()
          const target = toAgent(scenario.program, world, scenario.durability)
          const { suspendAlways } = scenario
          const at = { seq: 1 + Math.floor((share * events.length) / 1000) }
          const newRunId = `fork-${n}`
          await fork(target, { ledger, runId: 'run', at, newRunId, suspendAlways })
          while ((await ledger.getRun(newRunId))?.endedAt === null)
            await oneLife(target, ledger, newRunId, { suspendAlways }, world)
          expect(await flawsOfReplay(target, ledger, newRunId)).toEqual([])
        }
        await sender.stop()
        await ledger.close()
      }),
      { numRuns: numRuns(25) },
    )
  })

  it.each(savedLives)('D1 %s', async (_, scenario) => {
    const ledger = await openLedger('memory:')
    await live(scenario, ledger, [])
    const target = toAgent(scenario.program, createWorld(), scenario.durability)
    expect(await flawsOfReplay(target, ledger, 'run')).toEqual([])
    await ledger.close()
  })

  it('D1 D3 is identical: random graphs, killed anywhere and resumed', async () => {
    await fc.assert(
      fc.asyncProperty(graphScenarios, async ({ spec, deaths, suspendAlways }) => {
        const straight = await liveGraph(spec, [], false, undefined)
        const killed = await liveGraph(spec, killsOf(deaths, straight.appends), suspendAlways, undefined)
        for (const { ledger } of [straight, killed]) {
          const world = await worldAsRecorded(ledger)
          const target = toGraph(spec, world, () => false)(ledger)
          expect(await flawsOfReplay(target, ledger, 'run')).toEqual([])
        }
      }),
      { numRuns: numRuns(20) },
    )
  })
})
