import type { JsonValue } from '@clew/ledger'
import { type Agent, agent, type Durability, type Run, StepError } from '@clew/runtime'
import { type Op, type Program, TRIES } from '../catalogue/random-programs.ts'

const mix = (acc: number, value: number): number => (acc * 31 + value) % 1009

/** The world outside: effects are functions of name and input, and it remembers who called. */
export interface World {
  /** Executions by idempotency key and attempt. */
  readonly executions: Map<string, number>
  /** Keys of effects that are not reads. */
  readonly writes: Set<string>
  /** What was really done, by idempotency key: what a person finds when asked for an unknown outcome. */
  readonly done: Map<string, JsonValue>
  /** Keys whose result was on record when the present life began: executing one again is the worst mistake. */
  readonly recorded: Set<string>
  /** Writes that were dispatched once more after they had been done. */
  readonly doneAgain: string[]
  readonly flaws: string[]
  /** False plants a mistake: writes are dispatched as reads are, without a reservation. */
  readonly isReserving: boolean
  /** A dead process does nothing more. */
  isDead: () => boolean
}

export const createWorld = (isReserving = true): World => ({
  isReserving,
  executions: new Map(),
  writes: new Set(),
  done: new Map(),
  recorded: new Set(),
  doneAgain: [],
  flaws: [],
  isDead: () => false,
})

const never = new Promise<never>(() => {})

/** The same random programs as the catalogue's, written with the real runtime. */
export function toAgent(
  program: Program,
  world: World,
  durability: Durability = 'group',
  name = 'top',
  path = 'k',
  /** Of the life that the agent is made for: a dead process must not come back to life in the next one. */
  isDead = world.isDead,
): Agent<{ acc: number }, { acc: number }> {
  return agent(name, async (run, input) => ({ acc: await interpret(run, program, input.acc, path) }), {
    durability,
  })

  async function interpret(run: Run, ops: Program, start: number, at: string): Promise<number> {
    let acc = start
    for (const [i, op] of ops.entries()) acc = await perform(run, op, acc, `${at}.${i}`)
    return acc
  }

  async function effect(
    op: { turns: number; failsUntil: number; isWrite: boolean },
    input: { name: string; acc: number },
    call: { attempt: number; idempotencyKey: string },
  ): Promise<{ got: number }> {
    if (isDead()) return never
    const { attempt, idempotencyKey: key } = call
    const id = `${key} ${attempt}`
    world.executions.set(id, (world.executions.get(id) ?? 0) + 1)
    if (op.isWrite) world.writes.add(key)
    if (op.isWrite && world.done.has(key)) world.doneAgain.push(input.name)
    if (world.recorded.has(key))
      world.flaws.push(`R5 ${input.name} was executed again, with its result on record`)
    for (let turn = 0; turn < op.turns; turn++) {
      await new Promise((resolve) => void setImmediate(resolve))
      if (isDead()) return never
    }
    if (attempt <= op.failsUntil) throw new Error(`not now, ${JSON.stringify(input)}`)
    const output = { got: mix(input.acc, input.name.length + 3) }
    world.done.set(key, output)
    return output
  }

  async function perform(run: Run, op: Op, acc: number, at: string): Promise<number> {
    const retry = { tries: TRIES, delayMs: 0 }
    switch (op.op) {
      case 'compute':
        return (await run.step(op.name, { acc }, (given) => ({ got: mix(given.acc, op.add) }))).got
      case 'effect': {
        const isWrite = op.safety !== 'read'
        const safety = world.isReserving ? op.safety : 'read'
        const input = { name: op.name, acc }
        const { got } = await run.effect(
          op.name,
          input,
          (given, call) => effect({ ...op, isWrite }, given, call),
          { safety, retry },
        )
        if (got % 4 === 0) run.say(`${op.name} gave ${got}`)
        return got
      }
      case 'nested':
      case 'handoff': {
        const tries = op.op === 'nested' ? op.tries : 1
        const body = async (given: { acc: number }, inner: Run): Promise<{ got: number }> => ({
          got: await interpret(inner, op.body, given.acc, at),
        })
        return (await run.step(op.name, { acc }, body, { retry: { tries, delayMs: 0 } })).got
      }
      case 'child':
        return (
          await run.child(
            toAgent(op.body, world, durability, `${op.name} ${at}`, at, isDead),
            { acc },
            { name: op.name },
          )
        ).acc
      case 'loop': {
        let value = acc
        for (let round = 0; round < op.times; round++)
          value = await interpret(run, op.body, value, `${at}.${round}`)
        return value
      }
      case 'branch':
        return interpret(run, acc % 2 === 0 ? op.even : op.odd, acc, at)
      case 'parallel': {
        const all = await Promise.all(op.branches.map((ops, i) => interpret(run, ops, acc + i, `${at}.${i}`)))
        return all.reduce(mix, acc)
      }
      case 'race':
        return Promise.race(op.branches.map((ops, i) => interpret(run, ops, acc + i, `${at}.${i}`)))
      case 'fan-out': {
        const all = await Promise.all(
          op.turns.map((turns, i) =>
            run.effect(
              op.name,
              { name: op.name, acc: acc + i },
              (given, call) => effect({ turns, failsUntil: 0, isWrite: false }, given, call),
              { key: `${at}/${i}` },
            ),
          ),
        )
        return all.map(({ got }) => got).reduce(mix, acc)
      }
      case 'try':
        try {
          return await interpret(run, op.body, acc, at)
        } catch (error) {
          if (!(error instanceof StepError)) throw error
          return mix(acc, error.message.length)
        }
      case 'pause': {
        const answer = await run.interrupt<{ got: number }>({
          question: `${op.question}`,
          number: op.question,
        })
        return mix(acc, answer.got)
      }
      case 'receive':
        return mix(acc, (await run.receive<{ got: number }>(`${op.name} ${at}`)).got)
      case 'select': {
        const { branch, value } = await run.select((on) => ({
          signal: on.signal<{ got: number }>(`${op.name} ${at}`),
          timer: on.timer(op.isLate ? 1 : 3_600_000),
          ...(op.isLate && {
            effect: on.effect(op.name, { name: op.name, acc }, (given, call) =>
              effect({ turns: op.turns, failsUntil: 0, isWrite: false }, given, call),
            ),
          }),
        }))
        return branch === 'timer' ? acc : mix(acc, value.got)
      }
      case 'clock':
        // The time itself stays out of the result, which must not depend on when the run was killed.
        await run.step('clock', { at: run.now() }, (_, inner) => ({ at: inner.now() }))
        return acc
      case 'dice':
        // Two runs throw differently; one run never does, or its input would differ on resume.
        await run.step('dice', { random: run.random(), uuid: run.uuid() }, (_, inner) => ({
          inner: inner.random(),
        }))
        return acc
    }
  }
}

/** A person who looks at the world: what was done is done, what was not is tried again. */
export function answerTo(question: unknown, world: World): JsonValue {
  const { unknown, idempotencyKey, number } = question as {
    unknown?: string
    idempotencyKey?: string
    number?: number
  }
  if (unknown === undefined) return { got: mix(number ?? 0, 5) }
  const output = world.done.get(idempotencyKey ?? '')
  return output === undefined ? { choice: 'retry' } : { choice: 'done', output }
}

/** What everybody sends under this name: the same, whenever it is sent and however often. */
export const signalFor = (name: string): JsonValue => ({ got: mix(name.length, 7) })
