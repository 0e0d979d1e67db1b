import {
  type ClewEvent,
  foldEvents,
  foldSteps,
  formatTranscriptText,
  type Ledger,
  timelineFold,
  transcriptFold,
} from '@clew/ledger'
import { replay, type ReplayReport } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { type Change, researcher } from './changed-agents.ts'
import { researchGraph } from './changed-graphs.ts'

interface Views {
  readonly steps: unknown
  readonly timeline: unknown
  readonly transcript: unknown
}

const viewsOf = (events: readonly ClewEvent[]): Views => ({
  steps: foldSteps(events),
  timeline: foldEvents(timelineFold, events),
  transcript: formatTranscriptText(foldEvents(transcriptFold, events)),
})

const FORMS = ['function', 'graph'] as const
const WAYS = [false, true]
const CASES = FORMS.flatMap((form) => WAYS.map((isParallel) => ({ form, isParallel })))

describe.each(CASES)('D1 trace parity: $form, steps at once: $isParallel', ({ form, isParallel }) => {
  async function gone(
    change: Change,
  ): Promise<{ source: Views; replayed: Views; report: ReplayReport; ledger: Ledger }> {
    const ledger = createMemoryWorld().open()
    const { runId } =
      form === 'function'
        ? await researcher(isParallel).start(ledger, { topic: 'owls' })
        : await researchGraph(ledger, isParallel).invoke({ topic: 'owls' })
    const told: ClewEvent[] = []
    const target =
      form === 'function' ? researcher(isParallel, change) : researchGraph(ledger, isParallel, change)
    const report = await replay(target, {
      ledger,
      runId,
      graceMs: 30,
      onEvent: (event) => void told.push(event),
    })
    const source = viewsOf(await Array.fromAsync(ledger.read(runId)))
    return { source, replayed: viewsOf(told), report, ledger }
  }

  it('D1 steps, decisions, timeline and transcript of an identical replay are those of its source', async () => {
    const { source, replayed, report, ledger } = await gone('none')
    expect(report.verdict).toBe('identical')
    expect(replayed).toEqual(source)
    const steps = await ledger.getSteps(report.sourceRunId)
    expect(report.path.map(({ stepId, decision, kind }) => ({ stepId, decision, kind }))).toEqual(
      steps.map(({ stepId, decision, kind }) => ({ stepId, decision, kind })),
    )
  })

  it('D1 and of a changed one they are not', async () => {
    const { source, replayed } = await gone('random in a body')
    expect(replayed.steps).not.toEqual(source.steps)
  })
})
