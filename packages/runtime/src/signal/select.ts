import { ClewError, type JsonValue } from '@clew/ledger'
import { createOptionCheck } from '../options/known-options.ts'
import type { AnswerOf, FromJsonSchema, StandardSchema } from '../options/standard-schema.ts'
import type { EffectCall, EffectOptions, ReceiveOptions, Run } from '../run/run.ts'
import type { SignalSchema } from './signal-schemas.ts'

/** One of the things that a `select` waits for. */
export interface SelectBranch<Value> {
  readonly start: (run: Run) => Promise<Value>
  /** What is recorded of it as the input of the select. */
  readonly shown: { readonly signal: string } | { readonly timerMs: number } | { readonly effect: string }
  /** Of a signal. */
  readonly name?: string | undefined
  readonly schema?: SignalSchema | undefined
}

/** Makes the branches of a `select`. Each is one step, so that a branch that loses has done nothing on its way. */
export interface Branches {
  signal<Schema extends StandardSchema>(name: string, schema: Schema): SelectBranch<AnswerOf<Schema>>
  signal<const Schema extends { readonly type: string } | { readonly enum: readonly JsonValue[] }>(
    name: string,
    schema: Schema,
  ): SelectBranch<FromJsonSchema<Schema>>
  signal<Payload = JsonValue>(name: string): SelectBranch<Payload>
  timer(ms: number): SelectBranch<null>
  effect<Input, Output>(
    name: string,
    input: Input,
    fn: (input: Input, call: EffectCall) => Output | Promise<Output>,
    options?: Omit<EffectOptions, 'approval'>,
  ): SelectBranch<Output>
}

export interface SelectOptions {
  /** Names this select among the others of the same code, in place of its number. */
  readonly key?: string | undefined
}

/** The branch that came first, with its value. */
export type Selected<Named extends Readonly<Record<string, SelectBranch<unknown>>>> = {
  [Name in keyof Named & string]: {
    readonly branch: Name
    readonly value: Named[Name] extends SelectBranch<infer Value> ? Value : never
  }
}[keyof Named & string]

/** Passed by a select alone: the payload is parsed when the select is decided, not while it is. */
export interface RawReceiveOptions extends ReceiveOptions {
  readonly isRaw?: boolean | undefined
}

const checkEffect = createOptionCheck<Omit<EffectOptions, 'approval'>>({
  key: true,
  retry: true,
  timeoutMs: true,
  cache: true,
  safety: true,
  idempotent: true,
  refresh: true,
})

const RAW: RawReceiveOptions = { isRaw: true }

const BRANCHES: Branches = {
  signal: (name: string, schema?: SignalSchema) => ({
    start: (run: Run) => run.receive<never>(name, undefined, RAW),
    shown: { signal: name },
    name,
    schema,
  }),
  timer: (ms) => ({
    async start(run) {
      await run.sleep(ms)
      return null
    },
    shown: { timerMs: ms },
  }),
  effect(name, input, fn, options = {}) {
    checkEffect(options, `The effect ${name} of a select`)
    return {
      start: (run) => run.effect(name, input, fn as never, options),
      shown: { effect: name },
    }
  },
}

type Named = Readonly<Record<string, SelectBranch<unknown>>>

export function selectBranches(make: (on: Branches) => Named): {
  readonly branches: Named
  readonly input: Readonly<Record<string, SelectBranch<unknown>['shown']>>
} {
  const branches = make(BRANCHES)
  const names = Object.keys(branches)
  if (names.length === 0)
    throw new ClewError(
      'bad_option',
      'A select has no branch',
      'Give it at least one signal, timer or effect to wait for.',
    )
  return {
    branches,
    input: Object.fromEntries(Object.entries(branches).map(([name, { shown }]) => [name, shown])),
  }
}

/** The first end decides. Ends reach the code one at a time, in the order in which they were recorded. */
export const raceBranches = (branches: Named, run: Run): Promise<{ branch: string; value: unknown }> =>
  Promise.race(
    Object.entries(branches).map(async ([branch, { start }]) => ({ branch, value: await start(run) })),
  )
