import type { EventInput, Ledger } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openLedger } from '../open-ledger.ts'
import { steps } from './steps.ts'

/** What a run does next: opens a step, or ends one that is open in one way or another. */
const deed = fc.constantFrom('open', 'complete', 'fail', 'inside')

function tell(runId: string, deeds: readonly string[], prefix: string): EventInput[] {
  const open: string[] = []
  return deeds.flatMap((what, at): EventInput[] => {
    const event = (eventType: string, payload: Record<string, string>): EventInput => ({
      eventType,
      correlationId: runId,
      payload,
    })
    if (what === 'open' || what === 'inside') {
      const stepId = `${what === 'inside' && open.length > 0 ? `${open.at(-1)}/` : ''}${prefix}#${at}`
      open.push(stepId)
      return [event('execution.step_started', { stepId, name: at % 3 === 0 ? 'third' : prefix })]
    }
    const stepId = open.pop()
    if (stepId === undefined) return []
    return [event(what === 'fail' ? 'execution.step_failed' : 'execution.step_completed', { stepId })]
  })
}

async function allPages(ledger: Ledger, runId: string, limit: number, filter: object): Promise<unknown[]> {
  const found: unknown[] = []
  for (let cursor: string | undefined, pages = 0; pages < 200; pages++) {
    const page = await steps.run(ledger, { runId, limit, cursor, ...filter })
    found.push(...page.steps)
    expect(page.steps.length).toBeLessThanOrEqual(limit)
    if (page.nextCursor === null) return found
    cursor = page.nextCursor
  }
  throw new Error('The pages have no end')
}

describe('A1 steps, page by page', () => {
  it('A1 R7 are those of the whole run: of one, of its fork wherever it leaves, and of a fork of that', async () => {
    const life = fc.array(deed, { minLength: 1, maxLength: 24 })
    await fc.assert(
      fc.asyncProperty(life, life, fc.nat(30), fc.nat(40), fc.integer({ min: 1, max: 7 }), async (...of) => {
        const [first, second, at, later, limit] = of
        const ledger = await openLedger('memory:')
        const fork = (runId: string, source: string, seq: number): EventInput => ({
          eventType: 'system.workflow_forked',
          correlationId: runId,
          payload: { sourceRunId: source, sourceSeq: seq },
        })
        const begin = { eventType: 'system.workflow_started', correlationId: 'r', payload: { agent: 'owl' } }
        const told = tell('r', first, 'a')
        await ledger.append([begin, ...told])
        const seq = 1 + (at % (told.length + 1))
        const own = tell('f', second, 'b')
        await ledger.append([fork('f', 'r', seq), ...own])
        await ledger.append([fork('g', 'f', 1 + (later % (seq + own.length + 1))), ...tell('g', first, 'c')])
        for (const runId of ['r', 'f', 'g']) {
          const whole = (await ledger.getSteps(runId)).map(({ values: _, ...skeleton }) => skeleton)
          expect(await allPages(ledger, runId, limit, {})).toEqual(whole)
          const failed = whole.filter(({ status }) => status === 'failed')
          expect(await allPages(ledger, runId, limit, { status: 'failed' })).toEqual(failed)
          const third = whole.filter(({ nodeName }) => nodeName === 'third')
          expect(await allPages(ledger, runId, limit, { node: 'third' })).toEqual(third)
        }
        await ledger.close()
      }),
      { numRuns: 60 },
    )
  })

  it('A1 a page that is full stops the reading', async () => {
    const ledger = await openLedger('memory:')
    const deeds = Array.from({ length: 9000 }, (_, at) => (at % 2 === 0 ? 'open' : 'fail'))
    await ledger.append([
      { eventType: 'system.workflow_started', correlationId: 'r', payload: { agent: 'owl' } },
      ...tell('r', deeds, 'a'),
    ])
    const read: number[] = []
    const watched: Ledger = {
      ...ledger,
      async getSkeleton(runId, range) {
        const found = await ledger.getSkeleton(runId, range)
        read.push(found.length)
        return found
      },
      getSteps: () => Promise.reject(new Error('All of the run was read')),
    }
    const page = await steps.run(watched, { runId: 'r', status: 'failed', limit: 5 })
    expect([page.steps.length, page.total, read.length]).toEqual([5, null, 1])
    await ledger.record({
      eventType: 'system.workflow_forked',
      correlationId: 'f',
      payload: { sourceRunId: 'r', sourceSeq: 8001 },
    })
    const first = await steps.run(watched, { runId: 'f', limit: 5 })
    expect(first.steps.map(({ stepId }) => stepId)).toEqual(['a#0', 'a#2', 'a#4', 'a#6', 'a#8'])
    expect(first.nextCursor).not.toBeNull()
    await ledger.close()
  })
})
