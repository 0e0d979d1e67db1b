import type { ClewEvent, Ledger } from '@clew/ledger'
import { agent, append, last, type Run, type RunResult, START, StateGraph } from '@clew/runtime'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { flawsOf, KEPT_WORLDS } from './worlds.ts'

/** What the code of one version calls its two steps; what it did outside is told in `done`. */
interface Names {
  readonly first: string
  readonly second: string
}

const ORIGINAL: Names = { first: 'plan', second: 'write' }

/** Two ways to write the same thing: what is recorded in a body must be as safe as at the top. */
interface Form {
  start(ledger: Ledger, names: Names, runId: string, gate: Gate): Promise<RunResult>
  resume(ledger: Ledger, names: Names, runId: string, gate: Gate, answer?: unknown): Promise<RunResult>
}

interface Gate {
  readonly how: { readonly suspendAlways?: true }
  readonly done: string[]
  /** Called when an effect is under way. */
  readonly onEffect?: (name: string) => Promise<void> | void
}

async function work(run: Run, { first, second }: Names, { done, onEffect }: Gate): Promise<string> {
  const effect = (name: string): Promise<string> =>
    run.effect(name, { n: 1 }, async () => {
      done.push(name)
      await onEffect?.(name)
      return name
    })
  const one = await effect(first)
  const two = await effect(second)
  const answer = await run.interrupt<string>('Go on?')
  return `${one} ${two} ${answer} ${await effect('send')}`
}

const functions: Form = (() => {
  const of = (names: Names, gate: Gate) => agent('changing', (run) => work(run, names, gate))
  return {
    start: (ledger, names, runId, gate) => of(names, gate).start(ledger, null, { runId, ...gate.how }),
    resume: (ledger, names, runId, gate, answer) =>
      of(names, gate).resume(ledger, runId, { answer, ...gate.how }),
  }
})()

const nodeBodies: Form = (() => {
  const of = (ledger: Ledger, names: Names, gate: Gate) =>
    new StateGraph({ text: last(''), way: append<string>() })
      .addNode('begin', () => ({ way: 'begin' }))
      .addNode('work', async (_, run) => ({ text: await work(run, names, gate) }))
      .addEdge(START, 'begin')
      .addEdge('begin', 'work')
      .compile({ checkpointer: ledger })
  const withOutput = (result: RunResult<{ text: string }>): RunResult =>
    result.status === 'completed' ? { ...result, output: result.output.text } : result
  return {
    start: async (ledger, names, runId, gate) =>
      withOutput(await of(ledger, names, gate).invoke({}, { runId, ...gate.how })),
    resume: async (ledger, names, runId, gate, answer) =>
      withOutput(await of(ledger, names, gate).resume({ runId }, { answer, ...gate.how })),
  }
})()

async function executionOf(ledger: Ledger, runId: string): Promise<ClewEvent[]> {
  const events = await Array.fromAsync(ledger.read(runId))
  return events.filter(({ eventType }) => eventType.startsWith('execution.'))
}

const FORMS: readonly (readonly [string, Form, string])[] = [
  ['a function', functions, ''],
  ['the body of a node', nodeBodies, 'work@s2/'],
]
const CASES = KEPT_WORLDS.flatMap(([world, open]) =>
  FORMS.map(([form, code, path]) => ({ name: `${form}, ${world}`, open, code, path })),
)

// Together: each waits a second for what the code does not ask for.
describe.concurrent.each(CASES)('changed code, $name', ({ open, code, path }) => {
  const { ledger, how } = open()

  it.each<[string, Names, string, string]>([
    ['its first step', { first: 'sketch', second: 'write' }, 'plan#0', 'sketch#0'],
    ['a later step', { first: 'plan', second: 'compose' }, 'write#0', 'compose#0'],
  ])(
    'D2 %s renamed: blocked before anything is done or recorded, and the original goes on',
    async (...given) => {
      const [what, renamed, missing, instead] = given
      const runId = `renamed ${what}`
      const done: string[] = []
      await code.start(ledger, ORIGINAL, runId, { how, done })
      const before = await executionOf(ledger, runId)
      expect(done.splice(0)).toEqual(['plan', 'write'])

      const blocked = await code.resume(ledger, renamed, runId, { how, done }, 'yes')
      expect([blocked.status, blocked.divergence]).toEqual([
        'blocked',
        { kind: 'missing', stepId: path + missing, expected: path + missing, received: path + instead },
      ])
      expect(blocked.error).toMatchObject({ code: 'diverged', stepId: path + missing })
      expect(blocked.error?.message).toBe(
        `The record has step ${path}${missing}, which the code did not ask for; it asked for ${path}${instead} instead. ` +
          "Resume it with the code it began with, fork it before that step, or accept the difference with onDivergence: 'accept'.",
      )
      expect(done).toEqual([])
      expect(await executionOf(ledger, runId)).toEqual(before)

      const result = await code.resume(ledger, ORIGINAL, runId, { how, done })
      expect([result.status, result.output, done]).toEqual(['completed', 'plan write yes send', ['send']])
      expect(await flawsOf(ledger, runId)).toEqual([])
    },
  )

  it('D2 the renamed step was in flight when its process died: blocked, and the original goes on with it', async () => {
    const runId = 'in flight'
    const abort = new AbortController()
    const done: string[] = []
    // Dies while `write` is under way: its start is on record, its end never comes.
    const mortal: Ledger = {
      ...ledger,
      append: async (...args) => {
        if (abort.signal.aborted) throw new Error('dead')
        return ledger.append(...args)
      },
    }
    const onEffect = async (name: string): Promise<void> => {
      if (name !== 'write') return
      while (!(await ledger.getSteps(runId)).some((step) => step.nodeName === 'write'))
        await new Promise((resolve) => void setImmediate(resolve))
      abort.abort()
    }
    await expect(code.start(mortal, ORIGINAL, runId, { how: {}, done, onEffect })).rejects.toThrow('dead')
    const before = await executionOf(ledger, runId)
    expect(before.at(-1)).toMatchObject({ eventType: 'execution.step_started', payload: { name: 'write' } })
    expect(done.splice(0)).toEqual(['plan', 'write'])

    const renamed = { first: 'plan', second: 'compose' }
    const blocked = await code.resume(ledger, renamed, runId, { how, done })
    expect([blocked.status, blocked.divergence?.stepId, blocked.divergence?.received]).toEqual([
      'blocked',
      `${path}write#0`,
      `${path}compose#0`,
    ])
    expect(done).toEqual([])
    expect(await executionOf(ledger, runId)).toEqual(before)

    const asked = await code.resume(ledger, ORIGINAL, runId, { how, done })
    expect([asked.status, done]).toEqual(['paused', ['write']])
    const { status, output } = await code.resume(ledger, ORIGINAL, runId, { how, done }, 'yes')
    expect([status, output, done]).toEqual(['completed', 'plan write yes send', ['write', 'send']])
    expect(await flawsOf(ledger, runId)).toEqual([])
  })
})

describe('a blocked run says why', () => {
  const ledger = createMemoryWorld().open()
  const SECRET = ['sk', 'proj', 'a1B2c3D4'.repeat(5)].join('-')
  type Code = (run: Run, input: unknown) => Promise<unknown>
  const asking =
    (call: (run: Run) => Promise<unknown>): Code =>
    async (run) => {
      await call(run)
      return run.interrupt('Go on?')
    }
  const effect = asking((run) => run.effect('a', 1, () => 1))
  const keyed = asking((run) => run.effect('a', null, () => ({ key: SECRET })))

  it.each<[string, Code, Code, unknown, RegExp]>([
    [
      'input',
      effect,
      asking((run) => run.effect('a', 2, () => 1)),
      null,
      /gave step a#0 another input .*Resume it with/,
    ],
    [
      'kind',
      effect,
      asking((run) => run.step('a', 1, () => 1)),
      null,
      /^Step a#0 is an effect in the record and a step in the code\. Resume/,
    ],
    [
      'missing',
      effect,
      async () => 'skipped',
      null,
      /record has step a#0, which the code did not ask for\. Resume/,
    ],
    ['redacted', keyed, keyed, null, /result of step a#0 was redacted at .*key.* refresh: true/],
    ['redacted', effect, effect, { key: SECRET }, /redacted at \$\.key.*new run/],
  ])('D2 %s: error has code diverged, names the step and the way out, and no value', async (...given) => {
    const [kind, before, after, input, message] = given
    const { runId } = await agent('one', before).start(ledger, input)
    const { status, divergence, error } = await agent('one', after).resume(ledger, runId, { answer: 1 })
    expect([status, divergence?.kind, error?.code]).toEqual(['blocked', kind, 'diverged'])
    expect(error?.message).toMatch(message)
    expect(error?.message).not.toContain(SECRET)
  })

  it('D2 a child that is blocked blocks its parent, which names the child run and its step', async () => {
    const child = (name: string) =>
      agent(
        'child',
        asking((run) => run.effect(name, null, () => 1)),
      )
    const parent = (name: string) => agent('parent', (run) => run.child(child(name), null))
    const { runId } = await parent('a').start(ledger, null)
    const blocked = await parent('b').resume(ledger, runId, { answer: 1 })
    expect([blocked.status, blocked.divergence]).toMatchObject([
      'blocked',
      { kind: 'missing', stepId: 'child#0', childRunId: `${runId}/child#0` },
    ])
    expect(blocked.error?.message).toMatch(
      /^In the child run .*child#0 of child#0: the record has step a#0, .* asked for b#0 instead/,
    )
    expect((await parent('a').resume(ledger, runId)).status).toBe('completed')
  })
})
