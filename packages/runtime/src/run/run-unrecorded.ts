import { randomUUID } from 'node:crypto'
import { checkBudget } from '../options/check-options.ts'
import { createRunLog } from '../log/run-log.ts'
import { createLiveMachine } from '../machine/live-machine.ts'
import type { Program } from '../machine/program.ts'
import type { ChildEnd, ChildLink } from '../machine/step.ts'
import type { RunOptions } from './run-options.ts'
import type { RunResult } from './result.ts'
import { StepError } from './run.ts'

const NO_SIGNAL = new AbortController().signal

/** Runs a program with nothing recorded: fast, and gone when it ends. */
export async function runUnrecorded(
  program: Program,
  input: unknown,
  options: RunOptions & { runId?: string | undefined },
): Promise<RunResult> {
  checkBudget(options.budget, 'this run')
  const runId = options.runId ?? randomUUID()
  const log = createRunLog({ graphName: program.name, runId, now: () => performance.now() })
  const machine = createLiveMachine({
    runId,
    threadId: null,
    agent: program.name,
    seed: randomUUID(),
    durability: program.durability ?? 'group',
    budget: options.budget ?? program.budget,
    signal: options.signal ?? NO_SIGNAL,
    listener: options.listener ?? {},
    onStepEnd: ({ name, error, ...step }) =>
      log.push({ nodeName: name, ...step, error: error && error.toJSON() }),
    awaitsCallsOnly: program.kind === 'graph',
    suspendAlways: false,
    now: Date.now,
    openChild: (child, link) => openFreely(child, link, options),
  })
  const opening = {
    runId,
    threadId: null,
    input,
    from: undefined,
    events: [],
    ledger: undefined,
    listener: options.listener ?? {},
  }
  const rest = await machine.go(program.code(machine, opening))
  log.end()
  const base = {
    runId,
    threadId: null,
    output: undefined,
    pause: null,
    pauses: [],
    dueAt: null,
    awaits: [],
    error: null,
    divergence: null,
    log: log.log,
    checkpointOk: true,
    checkpointErrors: [],
    warnings: [],
    fidelity: null,
  }
  if (rest.type === 'ended')
    return 'output' in rest.outcome
      ? { ...base, status: 'completed', output: rest.outcome.output }
      : { ...base, status: 'failed', error: rest.outcome.error }
  const reason = rest.type === 'stopped' ? rest.reason : rest.type
  return { ...base, status: 'stopped', error: new StepError({ code: 'stopped', message: reason }, null) }
}

async function openFreely(program: Program, link: ChildLink, options: RunOptions): Promise<ChildEnd> {
  const { status, output, error } = await runUnrecorded(program, link.input, {
    ...options,
    runId: link.runId,
    signal: link.signal,
    listener: options.listener?.child?.(link),
  })
  if (status === 'completed') return { status, output, restored: false }
  return { status: 'failed', error: error ?? new StepError({ code: status }, null) }
}
