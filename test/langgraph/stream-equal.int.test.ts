import { Command } from '@langchain/langgraph'
import type { Ledger, RunSummary } from 'clew'
import { asOwn, checkpointOf } from '@clew/ledger'
import { ClewCallbackHandler } from 'clew/langchain'
import { ClewSaver } from 'clew/langgraph'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { numRuns } from '../num-runs.ts'
import { thread } from './graphs.ts'
import { compileRandom, randomLayers } from './random-graph.ts'
import { createStore, STORES } from './stores.ts'

/** What happened in one run, in order, one text for each. */
type Story = string[]

interface StreamedTask {
  readonly id: string
  readonly name: string
  /** Left out when the task begins. */
  readonly result?: Readonly<Record<string, unknown>>
  readonly interrupts: readonly (readonly { readonly id: string; readonly value: unknown }[])[]
}

type Told = readonly [ns: string[], mode: string, chunk: unknown]

interface StreamedCheckpoint {
  readonly config: { readonly configurable: { readonly checkpoint_id: string } }
  readonly values: unknown
  readonly next: readonly string[]
}

const text = (value: unknown): string => JSON.stringify(value)
const checkpointText = (id: string, state: unknown, next: readonly string[]): string =>
  `checkpoint ${id} ${text({ lines: [], last: '', ...(state as object) })} → ${[...new Set(next)].join()}`

/** What the framework's own stream tells, by namespace; of an invocation that resumes, what is new. */
function tell(stories: Map<string, Story>, [ns, mode, chunk]: Told): void {
  const key = ns.join('|')
  const story = stories.get(key) ?? []
  stories.set(key, story)
  if (mode === 'checkpoints') {
    const { config, values, next } = chunk as StreamedCheckpoint
    const line = checkpointText(config.configurable.checkpoint_id, values, next)
    if (!story.includes(line)) story.push(line)
    return
  }
  const { name, result, interrupts } = chunk as StreamedTask
  if (result === undefined) return
  const asked = interrupts.flat().map(({ value }) => `${name} asks ${text(value)}`)
  // What is still open is asked again when another question is answered.
  const superstep = new Set(story.slice(story.findLastIndex((line) => line.startsWith('checkpoint '))))
  const first = asked.filter((line) => !superstep.has(line))
  story.push(...(asked.length > 0 ? first : [`${name} ${text(result)}`]))
}

/**
 * Ids of open questions, by the task of the outermost graph that waits. The framework's own state still has those of a
 * task that has ended since.
 */
function noteQuestions(open: Map<string, readonly string[]>, [ns, mode, chunk]: Told): void {
  const { id, result, interrupts } = chunk as StreamedTask
  if (ns.length > 0 || mode !== 'tasks' || result === undefined) return
  open.set(
    id,
    interrupts.flat().map((each) => each.id),
  )
}

const isAsked = (open: ReadonlyMap<string, readonly string[]>, id: string): boolean =>
  [...open.values()].some((ids) => ids.includes(id))

/** The same from the record of a run, with its answers left out. */
async function readStory(ledger: Ledger, { runId, forkedFrom }: RunSummary): Promise<Story> {
  const story: Story = []
  const names = new Map<string, string>()
  for await (const event of ledger.read(runId, { afterSeq: forkedFrom?.seq ?? 0 })) {
    const own = asOwn(event)
    // What callbacks tell lies inside of nodes.
    if (own?.eventType === 'execution.step_started' && own.payload.kind === 'node')
      names.set(own.payload.stepId, own.payload.name)
    if (own?.eventType === 'execution.step_completed') {
      const { stepId, name = names.get(stepId), output } = own.payload
      if (name !== undefined) story.push(`${name} ${text(output ?? {})}`)
    }
    if (own?.eventType === 'execution.step_failed' || own?.eventType === 'execution.step_stopped') {
      const name = names.get(own.payload.stepId)
      if (name !== undefined) story.push(`${name} {}`)
    }
    if (own?.eventType === 'ui.input_requested')
      story.push(`${names.get(own.payload.stepId ?? '')} asks ${text(own.payload.question)}`)
    const checkpoint = checkpointOf(event)
    if (!checkpoint) continue
    const state = await ledger.getStateAt(runId, event.ledger.seq)
    story.push(checkpointText(checkpoint.id, state?.state, checkpoint.next))
  }
  return story
}

/** What of `wanted` does not stand in `all`, as often. */
function missing(wanted: Story, all: Story = []): Story {
  const left = [...all]
  return wanted.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/** By its id, or now and then without, where it is the only question. */
const answerTo = (id: string, answer: string, open: number): Command =>
  new Command({ resume: open === 1 && answer.endsWith('2') ? answer : { [id]: answer } })

describe.each(STORES)('A4 the record on %s', (name) => {
  it.each(['sync', 'async'] as const)(
    'tells of any graph what its own stream told (%s)',
    async (durability) => {
      const store = await createStore(name)
      const ledger = await store.open()
      let threads = 0
      try {
        await fc.assert(
          fc.asyncProperty(randomLayers, fc.boolean(), async (layers, hasCallbacks) => {
            const saver = new ClewSaver(ledger)
            const callbacks = hasCallbacks ? [new ClewCallbackHandler({ ledger, raiseError: true })] : []
            const broken = new Set(layers.flatMap((nodes, layer) => nodes.map((_, at) => `n${layer}${at}`)))
            const graph = compileRandom(layers, saver, broken)
            const config = thread(`t${threads++}`)
            const stories = new Map<string, Story>()
            const questions = new Map<string, readonly string[]>()
            const answers: string[] = []
            let isCut = false
            let input: unknown = { lines: ['in'] }
            for (let round = 0; round < 60; round++) {
              let failed = false
              questions.delete('state')
              try {
                const stream = await graph.stream(input as null, {
                  ...config,
                  callbacks,
                  durability,
                  streamMode: ['checkpoints', 'tasks'],
                  subgraphs: true,
                  recursionLimit: 50,
                })
                for await (const chunk of stream) {
                  const told = chunk as unknown as Told
                  tell(stories, told)
                  noteQuestions(questions, told)
                }
              } catch (error) {
                if (!/broke|Multiple errors/.test(String(error))) throw error
                failed = true
                isCut = true
              }
              const { next, tasks } = await graph.getState(config)
              const { runs } = await ledger.listRuns({ threadId: config.configurable.thread_id })
              const root = runs.find(({ parentRunId }) => parentRunId === null)
              const recorded = root?.pauses.map(({ pauseId }) => pauseId) ?? []
              // A stream that fails tells nothing of what others ask.
              const inState = new Set(tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => id)))
              if (failed)
                questions.set(
                  'state',
                  recorded.filter((id) => inState.has(id) && !isAsked(questions, id)),
                )
              const asked = [...questions.values()].flat()
              expect(recorded.toSorted()).toEqual(asked.toSorted())
              const halted = failed ? 'failed' : next.length === 0 ? 'completed' : 'running'
              expect(root?.status).toBe(asked.length > 0 ? 'paused' : halted)
              const [first] = asked
              if (!first && next.length === 0) break
              const answer = `answer ${round}`
              input = first === undefined ? null : answerTo(first, answer, asked.length)
              if (first === undefined) continue
              answers.push(answer)
              for (const [task, ids] of questions)
                questions.set(
                  task,
                  ids.filter((id) => id !== first),
                )
            }
            const { runs } = await ledger.listRuns({ threadId: config.configurable.thread_id })
            expect(runs.filter(({ runId }) => !runId.startsWith('lg-'))).toEqual([])
            for (const { runId, parentRunId } of runs) {
              const [begun] = await Array.fromAsync(ledger.read(runId, { limit: 1 }))
              const { ns = '' } = (begun?.payload['langgraph'] ?? {}) as { ns?: string }
              if (ns === '') continue
              expect([ns, runs.map((run) => run.runId)]).toEqual([ns, expect.arrayContaining([parentRunId])])
              const steps = await ledger.getSkeleton(parentRunId ?? '')
              const parentStepId = begun?.payload['parentStepId']
              expect([ns.split(':')[0], steps.map(({ stepId }) => stepId)]).toEqual([
                String(parentStepId).split('@')[0],
                expect.arrayContaining([parentStepId]),
              ])
            }
            const recorded = new Map<string, Story>()
            const root = runs.find(({ parentRunId }) => parentRunId === null)
            const received = await Array.fromAsync(
              ledger.read(root?.runId ?? '', { types: ['ui.input_received'] }),
            )
            expect(received.map(({ payload }) => payload['answer'])).toEqual(answers)
            for (const run of runs.toReversed()) {
              const [started] = await Array.fromAsync(ledger.read(run.runId, { limit: 1 }))
              const given = started?.payload['langgraph'] as { ns?: string } | undefined
              const ns = given?.ns ?? ''
              recorded.set(ns, [...(recorded.get(ns) ?? []), ...(await readStory(ledger, run))])
            }
            // A stream ends with the first failure; the record goes on with what ran beside it, as a sub-graph that the
            // next invocation runs again. What that asks after the failure reaches nobody: its step was stopped.
            if (isCut)
              for (const [ns, story] of stories) {
                const told = story.filter((line) => ns === '' || !line.includes(' asks '))
                expect(missing(told, recorded.get(ns))).toEqual([])
              }
            else expect(Object.fromEntries(recorded)).toEqual(Object.fromEntries(stories))
          }),
          { numRuns: numRuns(25) },
        )
        expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
      } finally {
        await store.drop()
      }
    },
  )
})
