import { ClewError, deriveId, type Ledger, type PromotionRule, type Safety } from '@clew/ledger'
import { checkName, checkPolicy, checkTimeout } from '../options/check-options.ts'
import { createRunMemory, type RunMemory } from '../memory/run-memory.ts'
import type { RunListener } from '../run/result.ts'
import { createOptionCheck } from '../options/known-options.ts'
import {
  type ChildOptions,
  type DetachOptions,
  type EffectOptions,
  type Question,
  type ReceiveOptions,
  type Run,
  StepError,
  type StepOptions,
  type TypedQuestion,
} from '../run/run.ts'
import type { Agent } from '../run/agent.ts'
import type { Detach } from './machine-types.ts'
import { currentCall } from './call-context.ts'
import { assertHere } from './current-run.ts'
import { sha256 } from './run-appender.ts'
import type { Program } from './program.ts'
import { clockKey, type RunRecord } from './record.ts'
import { recordedCopy } from './recorded-copy.ts'
import { isStandardSchema, parseAnswer, toJsonSchema } from '../options/standard-schema.ts'
import { parseSignal, type SignalSchema, type SignalSchemas } from '../signal/signal-schemas.ts'
import { raceBranches, type RawReceiveOptions, selectBranches, type SelectOptions } from '../signal/select.ts'
import { toRetryPolicy } from './retry.ts'
import { createSaying } from './say.ts'
import type { Scope } from './scope.ts'
import type { Statement } from './statements.ts'
import type { CallSpec, ChildEnd, ChildLink, Completed, Work } from './step.ts'

/** Options of an effect that performs a whole node: the node's state, which is not recorded as its input. */
export interface NodeEffectOptions extends EffectOptions {
  readonly worksWith: unknown
}

interface RunParts {
  readonly scope: Scope
  readonly runId: string
  readonly threadId: string | null
  readonly seed: string
  readonly signal: () => AbortSignal
  readonly call: (scope: Scope, spec: CallSpec) => Promise<Completed>
  /** Records what the code says of itself. */
  readonly state: (scope: Scope, statement: Statement) => string
  /** Which way changed code takes. */
  readonly patched: (scope: Scope, id: string) => boolean
  /** Begins a child run that is not waited for; gives its id. */
  readonly detach: Detach
  readonly openChild: (program: Program, link: ChildLink) => Promise<ChildEnd>
  /** Marks the error of a call as one that ends this run, and not the process, if no code handles it; returns it. */
  readonly own: (error: unknown) => unknown
  readonly now: () => number
  readonly record: Pick<RunRecord, 'clock'> | undefined
  readonly readings: [string, number][]
  readonly listener: RunListener
  /** Ledger, owner and promotion rules of the run's memory. */
  readonly ledger: Ledger | undefined
  readonly agent: string
  readonly promote?: readonly PromotionRule[] | undefined
  /** Schemas of signals that the agent declares. */
  readonly signals: SignalSchemas | undefined
}

/** Creates the `run` object for the code of one scope. */
export function createRun(parts: RunParts): Run {
  const { scope, runId, threadId, seed, signal, call, now, record, readings, listener, ledger, agent } = parts
  const draw = (what: string): string => sha256(`${seed}\n${scope.path}\n${what}\n${scope.draws++}`)
  const stepId = scope.path === '' ? null : scope.path

  const outputOf = (spec: CallSpec): Promise<unknown> => call(scope, spec).then(({ output }) => output)

  const make = (name: string, input: unknown, work: Work, options: StepOptions = {}): Promise<unknown> =>
    outputOf({
      name,
      key: options.key,
      // As it is now: its start may be recorded later, and recorded again with each attempt.
      input: recordedCopy(ledger, input),
      isInputKept: true,
      work,
      retry: toRetryPolicy(options.retry),
      timeoutMs: options.timeoutMs,
      cacheTtlMs: ttlOf(options.cache),
    })

  /** Before anything of the call is done. */
  function check(
    call: 'step' | 'effect' | 'child' | 'receive',
    name: string,
    options: StepOptions | undefined,
  ): void {
    checkName(name, call === 'effect' ? 'An effect' : call === 'receive' ? 'A signal' : `A ${call}`)
    assertHere(scope, call, name)
    if (!options) return
    CHECKS[call](options, `The ${call} ${name}`)
    checkPolicy(options, name)
  }

  function ask(name: string, asked: Question): Promise<unknown> {
    const question = recordedCopy(ledger, asked)
    if (question.timeoutMs !== undefined) checkTimeout(question.timeoutMs, 'a question')
    return outputOf({
      name,
      input: question,
      isInputKept: true,
      work: { kind: 'interrupt', question },
    })
  }

  /** A schema of a library is recorded as JSON Schema, and gives the answer its type. */
  async function askTyped(question: Question): Promise<unknown> {
    const { schema, ...rest }: { readonly schema?: unknown } & Record<string, unknown> = question
    if (!isStandardSchema(schema)) return ask('interrupt', question)
    const json = toJsonSchema(schema)
    const answer = await ask('interrupt', {
      ...rest,
      ...(json !== undefined && { schema: json }),
    } as Question)
    return parseAnswer(schema, answer, stepId)
  }

  /** Default deny: what is not allowed in so many words does not happen. */
  async function approved(name: string, { approval, safety }: EffectOptions, input: unknown): Promise<void> {
    const given = approval === true ? {} : (approval as Partial<Question>)
    const question: Question = {
      question: `May ${name} be done?`,
      ...given,
      effect: name,
      safety: safety ?? 'read',
      input,
      options: ['approve', 'deny'],
      default: 'deny',
    }
    const answer = await ask(`${name}:approval`, question)
    if (answer !== 'approve')
      throw new StepError({ code: 'denied', message: `${name} was not approved` }, stepId)
  }

  const effect: Run['effect'] = async (name, input, fn, options = {}) => {
    try {
      check('effect', name, options)
      if (options.approval) await approved(name, options, input)
      const { safety: declared, idempotent } = options
      const safety: Safety = declared ?? 'read'
      const refresh = options.refresh === true
      if (refresh && safety !== 'read') throw refreshedWrite(name, safety)
      const { worksWith } = options as Partial<NodeEffectOptions>
      const kind = 'effect' as const
      const isApproved = Boolean(options.approval)
      const work = { kind, fn: fn as never, safety, declared, idempotent, refresh, isApproved, worksWith }
      return (await make(name, input, work, options)) as never
    } catch (error) {
      throw parts.own(error)
    }
  }

  async function sleep(ms: number): Promise<void> {
    assertHere(scope, 'sleep')
    if (!Number.isFinite(ms) || ms < 0)
      throw parts.own(
        new ClewError('bad_option', 'A run cannot sleep for that time', 'Give milliseconds, 0 or more.'),
      )
    await outputOf({ name: 'sleep', input: { ms }, isInputKept: true, work: { kind: 'sleep', ms } })
  }

  async function receive(
    name: string,
    schema: SignalSchema | undefined = parts.signals?.[name],
    options: ReceiveOptions & RawReceiveOptions = {},
  ): Promise<unknown> {
    check('receive', name, options)
    const { timeoutMs, key, isRaw } = options
    const signal = ledger?.identity(name).stored ?? name
    const payload = await outputOf({
      name: `receive:${name}`,
      key,
      input: { signal, ...(timeoutMs !== undefined && { timeoutMs }) },
      isInputKept: true,
      work: { kind: 'receive', signal, timeoutMs },
    })
    return schema === undefined || isRaw ? payload : parseSignal(schema, payload, { name, stepId })
  }

  const select: Run['select'] = async (make, options = {}) => {
    assertHere(scope, 'select')
    checkSelectOptions(options, 'The select')
    const { branches, input } = selectBranches(make)
    const won = (await outputOf({
      name: 'select',
      key: options.key,
      input,
      isInputKept: true,
      work: {
        kind: 'compute',
        fn: (_, inner) => raceBranches(branches, inner),
        conclude: (output) => ({ output, fields: { decision: (output as { branch: string }).branch } }),
      },
    })) as { branch: string; value: unknown }
    const { name, schema = name === undefined ? undefined : parts.signals?.[name] } =
      branches[won.branch] ?? {}
    if (name === undefined || schema === undefined) return won as never
    return { ...won, value: await parseSignal(schema, won.value, { name, stepId }) } as never
  }

  /** Its id is made of the step's, so that it is begun once however often the step is tried. */
  const detach = (agent: Agent, name: string, input: unknown, { key }: DetachOptions): Promise<string> =>
    run.effect(
      name,
      input,
      (given, { idempotencyKey }) =>
        parts.detach(agent.program, {
          runId: deriveId(sha256, idempotencyKey, 'detached'),
          input: given,
        }),
      { key, safety: 'write', idempotent: true },
    )

  let memory: RunMemory | undefined
  const run: Run = {
    runId,
    threadId,
    get signal() {
      return signal()
    },
    step(name, input, fn, options) {
      check('step', name, options)
      const work = { kind: 'compute' as const, fn: fn as (input: unknown, run: Run) => unknown }
      return make(name, input, work, options) as Promise<never>
    },
    effect,
    interrupt(question: Question | TypedQuestion<unknown> | string) {
      assertHere(scope, 'interrupt')
      const asked = typeof question === 'string' ? { question } : question
      return askTyped(asked as Question) as Promise<never>
    },
    sleep,
    receive: (name: string, schema?: unknown, options?: ReceiveOptions) =>
      receive(name, schema as SignalSchema | undefined, options) as Promise<never>,
    select,
    child(agent: Agent, input: unknown, options: ChildOptions | DetachOptions = {}) {
      const { name = agent.name } = options
      check('child', name, options)
      if ('detach' in options) return detach(agent, name, input, options) as Promise<never>
      const work = { kind: 'child' as const, open: (link: ChildLink) => parts.openChild(agent.program, link) }
      return make(name, input, work, options) as Promise<never>
    },
    now() {
      assertHere(scope, 'now')
      const known = record?.clock.get(clockKey(scope.path, scope.attempt))?.[scope.readings++]
      if (known !== undefined) return known
      const ms = now()
      readings.push([scope.path, ms])
      return ms
    },
    random() {
      assertHere(scope, 'random')
      return Number.parseInt(draw('random').slice(0, 13), 16) / 2 ** 52
    },
    uuid() {
      assertHere(scope, 'uuid')
      return deriveId(sha256, seed, draw('uuid'))
    },
    patched(id) {
      assertHere(scope, 'patched')
      checkName(id, 'A patch')
      return parts.patched(scope, id)
    },
    get memory() {
      memory ??= createRunMemory({
        effect: run.effect,
        runId,
        threadId,
        agent,
        ledger,
        promote: parts.promote,
      })
      return memory
    },
    ...createSaying(
      stepId,
      (statement) => parts.state(scope, statement),
      (method) => assertHere(scope, method),
      (payload) => ledger?.recordedCopy(payload) ?? payload,
    ),
    emit: (data) => listener.custom?.(stepId, data),
    // Inside an effect it is the effect that speaks, though its code has the run around it.
    token: (text) => listener.token?.(currentCall()?.effect ?? stepId, text),
  }
  return run
}

const STEP_OPTIONS = { key: true, retry: true, timeoutMs: true, cache: true } as const
const CHECKS = {
  step: createOptionCheck<StepOptions>(STEP_OPTIONS),
  effect: createOptionCheck<EffectOptions>(
    { ...STEP_OPTIONS, safety: true, idempotent: true, approval: true, refresh: true },
    ['worksWith'],
  ),
  child: createOptionCheck<ChildOptions>({ key: true, retry: true, timeoutMs: true, name: true }, ['detach']),
  receive: createOptionCheck<ReceiveOptions>({ key: true, timeoutMs: true }, ['isRaw']),
}
const checkSelectOptions = createOptionCheck<SelectOptions>({ key: true })

function ttlOf(cache: StepOptions['cache']): number | undefined {
  if (cache === undefined || cache === false) return undefined
  return cache === true ? Number.POSITIVE_INFINITY : (cache.ttlMs ?? Number.POSITIVE_INFINITY)
}

const refreshedWrite = (name: string, safety: Safety): ClewError =>
  new ClewError(
    'bad_option',
    `The effect ${name} is declared ${safety} and refresh: a resume would perform it again`,
    'Declare refresh for reads only. After a redacted result of a write, resume with { secrets }, or keep a vault.',
    { name, safety, option: 'refresh' },
  )
