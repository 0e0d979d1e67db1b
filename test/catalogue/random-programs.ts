import type { JsonValue } from '@clew/ledger'
import * as fc from 'fast-check'
import type { Agent, EffectFn, Run, Safety } from './agent.ts'
import { StepError } from './record.ts'

/** A program as data: every operation turns one number into the next. */
export type Op =
  | { readonly op: 'compute'; readonly name: string; readonly add: number }
  | EffectOp
  | { readonly op: 'nested'; readonly name: string; readonly tries: number; readonly body: Program }
  | { readonly op: 'handoff'; readonly name: string; readonly body: Program }
  | { readonly op: 'child'; readonly name: string; readonly body: Program }
  | { readonly op: 'loop'; readonly times: number; readonly body: Program }
  | { readonly op: 'branch'; readonly even: Program; readonly odd: Program }
  | { readonly op: 'parallel'; readonly branches: readonly Program[] }
  | { readonly op: 'race'; readonly branches: readonly Program[] }
  | { readonly op: 'fan-out'; readonly name: string; readonly turns: readonly number[] }
  | { readonly op: 'try'; readonly body: Program }
  | { readonly op: 'pause'; readonly question: number }
  /** Signals, which the runtime alone has: here they are questions. */
  | { readonly op: 'receive'; readonly name: string }
  | { readonly op: 'select'; readonly name: string; readonly isLate: boolean; readonly turns: number }
  | { readonly op: 'clock' }
  | { readonly op: 'dice' }
export type Program = readonly Op[]

export interface EffectOp {
  readonly op: 'effect'
  readonly name: string
  /** How long it takes, in turns of the event loop. */
  readonly turns: number
  /** It fails up to and including this attempt; FOR_GOOD is what it says. */
  readonly failsUntil: number
  readonly safety: Safety
}

export const TRIES = 2
const FOR_GOOD = 99
const mix = (acc: number, value: number): number => (acc * 31 + value) % 1009

/** The world outside: effects are functions of name and input, and it remembers who called. */
export interface Outside {
  /** Executions by idempotency key and attempt. */
  readonly executions: Map<string, number>
  /** What was really done, by idempotency key: what a person finds when asked for an unknown outcome. */
  readonly done: Map<string, JsonValue>
  /** Every agent that was made for it, by name: child runs are replayed with these. */
  readonly agents: Map<string, Agent>
  effect(turns: number, failsUntil: number): EffectFn
}

export function createOutside(): Outside {
  const executions = new Map<string, number>()
  const done = new Map<string, JsonValue>()
  return {
    executions,
    done,
    agents: new Map(),
    effect:
      (turns, failsUntil) =>
      async (input, { attempt, idempotencyKey }) => {
        const id = `${idempotencyKey} ${attempt}`
        executions.set(id, (executions.get(id) ?? 0) + 1)
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => void setImmediate(resolve))
        if (attempt <= failsUntil) throw new Error(`not now, ${JSON.stringify(input)}`)
        const { name, acc } = input as { name: string; acc: number }
        const output = { got: mix(acc, name.length + 3) }
        done.set(idempotencyKey, output)
        return output
      },
  }
}

export function toAgent(program: Program, outside: Outside, name = 'top', path = 'k'): Agent {
  const agent: Agent = {
    name,
    fn: async (run, input) => ({ acc: await interpret(run, program, (input as { acc: number }).acc, path) }),
  }
  outside.agents.set(name, agent)
  return agent

  async function interpret(run: Run, ops: Program, start: number, path: string): Promise<number> {
    let acc = start
    for (const [i, op] of ops.entries()) acc = await perform(run, op, acc, `${path}.${i}`)
    return acc
  }

  async function perform(run: Run, op: Op, acc: number, path: string): Promise<number> {
    switch (op.op) {
      case 'compute':
        return numberOf(
          await run.step(op.name, { acc }, async (_, given) => ({ got: mix(numberOf(given), op.add) })),
        )
      case 'effect': {
        const { turns, failsUntil, safety } = op
        const input = { name: op.name, acc }
        return numberOf(
          await run.effect(op.name, input, outside.effect(turns, failsUntil), { safety, tries: TRIES }),
        )
      }
      case 'nested': {
        const body: Agent['fn'] = async (inner, given) => ({
          got: await interpret(inner, op.body, numberOf(given), path),
        })
        return numberOf(await run.step(op.name, { acc }, body, { tries: op.tries }))
      }
      case 'handoff':
        return numberOf(
          await run.handoff(toAgent(op.body, outside, `${op.name} ${path}`, path), { acc }, 'knows better'),
        )
      case 'child':
        return numberOf(
          await run.child(op.name, toAgent(op.body, outside, `${op.name} ${path}`, path), { acc }),
        )
      case 'loop': {
        let value = acc
        for (let round = 0; round < op.times; round++)
          value = await interpret(run, op.body, value, `${path}.${round}`)
        return value
      }
      case 'branch':
        return interpret(run, acc % 2 === 0 ? op.even : op.odd, acc, path)
      case 'parallel': {
        const all = await Promise.all(
          op.branches.map((ops, i) => interpret(run, ops, acc + i, `${path}.${i}`)),
        )
        return all.reduce(mix, acc)
      }
      case 'race':
        return Promise.race(op.branches.map((ops, i) => interpret(run, ops, acc + i, `${path}.${i}`)))
      case 'fan-out': {
        const all = await Promise.all(
          op.turns.map((turns, i) =>
            run.effect(op.name, { name: op.name, acc: acc + i }, outside.effect(turns, 0), {
              key: `${path}/${i}`,
            }),
          ),
        )
        return all.map(numberOf).reduce(mix, acc)
      }
      case 'try':
        try {
          return await interpret(run, op.body, acc, path)
        } catch (error) {
          if (!(error instanceof StepError)) throw error
          return mix(acc, error.message.length)
        }
      case 'pause':
        return mix(acc, numberOf(await run.interrupt({ acc, question: op.question })))
      case 'receive':
      case 'select':
        return mix(acc, numberOf(await run.interrupt({ acc, question: op.name.length })))
      case 'clock':
        // The time itself stays out of the result, which must not depend on when the run was killed.
        await run.step('clock', { at: run.now() }, async (inner) => ({ at: inner.now() }))
        return acc
      case 'dice':
        return mix(acc, Math.floor(run.random() * 100) + Number.parseInt(run.uuid().slice(-4), 16))
    }
  }
}

function numberOf(value: JsonValue): number {
  const { got, acc } = value as { got?: number; acc?: number }
  return got ?? acc ?? 0
}

export const answerTo = (question: JsonValue): JsonValue => ({
  got: mix((question as { question: number }).question, 5),
})

/** Its result hangs on who comes first: a race, a failure that may overtake its siblings, dice that they share. */
export function isRacy(program: Program, inParallel = false): boolean {
  return program.some((op) => {
    switch (op.op) {
      case 'race':
        return true
      case 'effect':
        // A crash uses up an attempt: whether the last one still fails hangs on when it came.
        return op.failsUntil >= TRIES && (inParallel || op.failsUntil < FOR_GOOD)
      case 'dice':
        return inParallel
      case 'select':
        return op.isLate
      case 'parallel':
        return op.branches.some((branch) => isRacy(branch, true))
      case 'branch':
        return isRacy(op.even, inParallel) || isRacy(op.odd, inParallel)
      case 'try':
        return isRacy(op.body)
      case 'nested':
      case 'handoff':
      case 'child':
      case 'loop':
        return isRacy(op.body, inParallel)
      default:
        return false
    }
  })
}

// Few names, so that many calls share one and the ordinals have something to do.
const name = fc.constantFrom('a', 'b', 'c')
const turns = fc.nat({ max: 5 })
const never = { maxLength: 3, minLength: 1 }

const compute: fc.Arbitrary<Op> = fc.record({
  op: fc.constant('compute' as const),
  name,
  add: fc.nat({ max: 99 }),
})
const effect: fc.Arbitrary<Op> = fc.record({
  op: fc.constant('effect' as const),
  name,
  turns,
  // Mostly none, or one that the next attempt makes good: programs that fail early prove little.
  failsUntil: fc.oneof(
    { weight: 14, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constantFrom(2, 3) },
    { weight: 1, arbitrary: fc.constant(FOR_GOOD) },
  ),
  safety: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Safety>('read') },
    { weight: 1, arbitrary: fc.constantFrom<Safety>('write', 'external') },
  ),
})
const leaf: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: compute },
  { weight: 6, arbitrary: effect },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('pause' as const), question: fc.nat({ max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('receive' as const), name }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('select' as const), name, isLate: fc.boolean(), turns }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Op>({ op: 'clock' }, { op: 'dice' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('fan-out' as const),
      name,
      turns: fc.array(turns, { minLength: 2, maxLength: 4 }),
    }),
  },
)

function block(depth: number): fc.Arbitrary<Program> {
  if (depth === 0) return fc.array(leaf, never)
  const body = block(depth - 1)
  const branches = fc.array(body, { minLength: 2, maxLength: 3 })
  const node: fc.Arbitrary<Op> = fc.oneof(
    { weight: 8, arbitrary: leaf },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant('nested' as const),
        name,
        tries: fc.integer({ min: 1, max: 3 }),
        body,
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('handoff' as const), name, body }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('child' as const), name, body }) },
    {
      weight: 2,
      arbitrary: fc.record({ op: fc.constant('loop' as const), times: fc.integer({ min: 1, max: 3 }), body }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('branch' as const), even: body, odd: body }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('parallel' as const), branches }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('race' as const), branches }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('try' as const), body }) },
  )
  return fc.array(node, never)
}

export const programs: fc.Arbitrary<Program> = block(2)
/** Small enough to try every place in them. */
export const smallPrograms: fc.Arbitrary<Program> = block(1)
