import { ClewError, type Ledger, type RetentionPolicyInput } from '@clew/ledger'
import { agent, append, END, fork, last, replay, START, StateGraph } from '@clew/runtime'
import * as fc from 'fast-check'

/**
 * Lives of a ledger: agents that run, pause, go on and are forked, threads that get turns, holds that come and go, and
 * between all of these things that take from the record. Whatever is taken, what stays must still work.
 */

export type Deed =
  | { readonly deed: 'start'; readonly asks: boolean; readonly steps: number; readonly subject: number }
  | { readonly deed: 'answer'; readonly which: number }
  | { readonly deed: 'fork'; readonly which: number }
  | { readonly deed: 'turn'; readonly thread: number }
  | { readonly deed: 'hold'; readonly which: number }
  | { readonly deed: 'release'; readonly which: number }
  | { readonly deed: 'gc'; readonly rule: number }
  | { readonly deed: 'other'; readonly kind: number; readonly which: number }

const which = fc.nat({ max: 20 })
export const deeds: fc.Arbitrary<readonly Deed[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        deed: fc.constant('start' as const),
        asks: fc.boolean(),
        steps: fc.integer({ min: 1, max: 4 }),
        subject: fc.nat({ max: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ deed: fc.constant('answer' as const), which }) },
    { weight: 2, arbitrary: fc.record({ deed: fc.constant('fork' as const), which }) },
    { weight: 4, arbitrary: fc.record({ deed: fc.constant('turn' as const), thread: fc.nat({ max: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ deed: fc.constant('hold' as const), which }) },
    { weight: 1, arbitrary: fc.record({ deed: fc.constant('release' as const), which }) },
    { weight: 3, arbitrary: fc.record({ deed: fc.constant('gc' as const), rule: fc.nat({ max: 4 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ deed: fc.constant('other' as const), kind: fc.nat({ max: 5 }), which }),
    },
  ),
  { minLength: 4, maxLength: 18 },
)

const RULES: readonly RetentionPolicyInput[] = [
  { rules: [{ newest: 0 }] },
  { rules: [{ newest: 3 }] },
  { rules: [{ match: { agent: 'teller' }, newest: 1 }] },
  { rules: [{ match: { agent: 'chat' }, newest: 2 }] },
  { rules: [{ match: { status: ['completed'] }, newest: 0 }], keep: [{ match: { agent: 'chat' } }] },
]

/** Something else that takes from the record: told of all runs there are; may be refused. */
export type OtherDeed = (ledger: Ledger, runIds: readonly string[], which: number) => Promise<void>

const teller = agent('teller', async (run, input: { steps: number; asks: boolean }) => {
  let sum = 0
  for (let i = 0; i < input.steps; i++) sum += await run.effect('look', { i }, () => i + 1)
  const answer = input.asks ? await run.interrupt({ question: 'Enough?' }) : 'not asked'
  return { sum: await run.step('add', { sum }, () => sum + 1), answer }
})

interface Told {
  readonly steps: number
  readonly asks: boolean
}

/** Refusals that say what is gone; anything else is a flaw. */
const isGone = (error: unknown): boolean =>
  error instanceof ClewError && ['pruned', 'erased', 'not_found'].includes(error.code)

export async function live(
  ledger: Ledger,
  all: readonly Deed[],
  others: readonly OtherDeed[] = [],
): Promise<string[]> {
  const chat = new StateGraph({ said: append<string>(), turns: last(0) })
    .addNode('reply', ({ said, turns }) => ({ said: [`re ${said.at(-1)}`], turns: turns + 1 }))
    .addEdge(START, 'reply')
    .addEdge('reply', END)
    .compile({ name: 'chat', checkpointer: ledger })
  const flaws: string[] = []
  const runs = new Map<string, Told>()
  const threads = new Map<number, string[]>()
  const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)]
  let made = 0

  const listed = async (): Promise<string[]> =>
    (await ledger.listRuns({ limit: 500 })).runs.map(({ runId }) => runId).toReversed()

  async function answer(runId: string): Promise<void> {
    const { steps } = runs.get(runId) as Told
    const result = await teller.resume(ledger, runId, { answer: 'yes' })
    const sum = (steps * (steps + 1)) / 2 + 1
    if (JSON.stringify(result.output) !== JSON.stringify({ sum, answer: 'yes' }))
      flaws.push(`${runId} came to ${JSON.stringify(result.output)} after its pause`)
  }

  const paused = async (): Promise<string[]> =>
    (await ledger.listRuns({ status: 'paused', limit: 500 })).runs.map(({ runId }) => runId)

  async function turn(thread: number): Promise<void> {
    const threadId = `t${thread}`
    const isThere = (await ledger.listRuns({ threadId, limit: 1 })).runs.length > 0
    const before = isThere ? (threads.get(thread) ?? []) : []
    const word = `word ${made++}`
    const { state } = await chat.invoke({ said: [word] }, { threadId })
    const said = [...before, word, `re ${word}`]
    if (JSON.stringify(state.said) !== JSON.stringify(said))
      flaws.push(`thread ${thread} said ${state.said.join()} for ${said.join()}`)
    threads.set(thread, said)
  }

  async function act(each: Deed): Promise<void> {
    switch (each.deed) {
      case 'start': {
        const runId = `run-${made++}`
        runs.set(runId, each)
        const { steps, asks } = each
        const subjects = each.subject === 0 ? undefined : [`person-${each.subject}`]
        await teller.start(ledger, { steps, asks }, { runId, subjects })
        return
      }
      case 'answer': {
        const runId = pick(await paused(), each.which)
        if (runId !== undefined) await answer(runId)
        return
      }
      case 'fork': {
        const source = pick(
          (await listed()).filter((runId) => runs.has(runId)),
          each.which,
        )
        if (source === undefined) return
        const { runId } = await fork(teller, {
          ledger,
          runId: source,
          at: { step: 'add' },
          effects: 'live',
        }).catch((error: unknown) => {
          // One that waits for its answer has not come to that step.
          if (isGone(error)) return { runId: undefined }
          throw error
        })
        if (runId !== undefined) runs.set(runId, runs.get(source) as Told)
        return
      }
      case 'turn':
        return turn(each.thread)
      case 'hold': {
        const runId = pick(await listed(), each.which)
        if (runId !== undefined) await ledger.hold({ runId })
        return
      }
      case 'release': {
        const hold = pick(await ledger.holds(), each.which)
        if (hold) await ledger.release(hold.holdId)
        return
      }
      case 'gc':
        return void (await ledger.gc({ policy: pick(RULES, each.rule) as RetentionPolicyInput }))
      default:
        return pick(others, each.kind)?.(ledger, await listed(), each.which)
    }
  }

  async function look(): Promise<void> {
    const { problems } = await ledger.verify(undefined, { projections: true })
    for (const { runId, seq, problem, detail } of problems) flaws.push(`${problem} ${runId}:${seq} ${detail}`)
    const held = new Set(
      (await ledger.holds()).flatMap(({ target }) => ('runId' in target ? [target.runId] : [])),
    )
    for (const runId of held)
      if ((await ledger.getRun(runId))?.status === 'deleted') flaws.push(`${runId} is held and gone`)
    for (const { runId } of (await ledger.listRuns({ status: 'deleted', limit: 500 })).runs) {
      const refusal = await Array.fromAsync(ledger.read(runId)).catch((error: unknown) => error)
      if (!(refusal instanceof ClewError && refusal.code === 'pruned'))
        flaws.push(`${runId} is deleted and does not say so`)
    }
  }

  /** The state of a thread as the record alone has it: this process remembers where it stood. */
  async function lookAtThreads(): Promise<void> {
    for (const [thread, said] of threads) {
      const [newest] = (await ledger.listRuns({ threadId: `t${thread}`, limit: 1 })).runs
      const found = newest && (await ledger.getState(newest.runId))
      if (found && JSON.stringify(found.state['said']) !== JSON.stringify(said))
        flaws.push(`the state of thread ${thread} is ${JSON.stringify(found.state)}`)
    }
  }

  /** At the end: what stays is replayed, what waits goes on, threads get one more turn. */
  async function lookAtAll(): Promise<void> {
    await lookAtThreads()
    for (const runId of await listed()) {
      const run = await ledger.getRun(runId)
      if (run?.status !== 'completed') continue
      const program = run.agent === 'chat' ? chat : teller
      const verdict = await replay(program as typeof teller, { ledger, runId }).then(
        (report) => report.verdict,
        (error: unknown) => (isGone(error) ? 'identical' : Promise.reject(error as Error)),
      )
      if (verdict !== 'identical') flaws.push(`${runId} replayed ${verdict}`)
    }
    for (const runId of await paused()) await answer(runId)
    for (const thread of threads.keys()) await turn(thread)
    await look()
  }

  for (const each of all) {
    await act(each)
    if (each.deed === 'gc' || each.deed === 'other') await look()
  }
  await lookAtAll()
  return flaws
}
