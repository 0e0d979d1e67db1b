import { auditEvent, ClewError, type Ledger } from '@clew/ledger'
import type { Tool } from './tool.ts'

export interface ControlCall {
  readonly tool: Tool
  readonly input: Readonly<Record<string, unknown>>
  readonly by: string
  readonly reason: string
  readonly key: string | null
}

type Perform = (input: Readonly<Record<string, unknown>>) => Promise<unknown>

/** Calls that are under way here, by ledger and key: the retry of a client that lost its connection waits for them. */
const underWay = new WeakMap<Ledger, Map<string, UnderWay>>()

interface UnderWay {
  readonly digest: string
  readonly work: Promise<unknown>
}

interface Once {
  /** Made of tool and key. */
  readonly id: string
  /** Of the input, which a retry repeats. */
  readonly digest: string
}

/**
 * An audit event before the call says who calls what and why. With an idempotency key it is also how a retry is known:
 * what was done is not done again, and a fork or a submitted run has an id made of the key, so that two processes cannot make two.
 */
export async function controlOnce(ledger: Ledger, call: ControlCall, perform: Perform): Promise<unknown> {
  const { tool, input, key } = call
  if (key === null) {
    await noteCall(ledger, call)
    return perform(input)
  }
  const id = ledger.digest(['mcp', tool.name, key])
  const digest = ledger.digest(input)
  const calls = underWay.get(ledger) ?? new Map<string, UnderWay>()
  underWay.set(ledger, calls)
  const other = calls.get(id)
  if (other) {
    if (other.digest !== digest) throw otherCall(tool, key)
    return other.work
  }
  const work = performOnce(ledger, call, { id, digest }, perform).finally(() => calls.delete(id))
  calls.set(id, { digest, work })
  return work
}

async function performOnce(
  ledger: Ledger,
  call: ControlCall,
  once: Once,
  perform: Perform,
): Promise<unknown> {
  const { tool, input, key } = call
  const { id, digest } = once
  const earlier = await findCall(ledger, id)
  if (earlier && earlier.digest !== digest) throw otherCall(tool, key ?? '')
  if (earlier?.made !== undefined) return repeated(ledger, earlier.made)
  // A fork that was made before the process died is found by its id.
  const isFork = Object.hasOwn(tool.operation.input.shape, 'newRunId')
  const newRunId = isFork ? (input['newRunId'] ?? `fork-${id.slice(0, 20)}`) : undefined
  if (typeof newRunId === 'string' && earlier && (await ledger.getRun(newRunId)))
    return repeated(ledger, newRunId)
  if (!earlier) await noteCall(ledger, call, once)
  const isSubmission = Object.hasOwn(tool.operation.input.shape, 'dedupe')
  const output = await perform({
    ...input,
    ...(newRunId !== undefined && { newRunId }),
    ...(isSubmission && { dedupe: `mcp-${id.slice(0, 20)}` }),
  })
  const made = runOf(output, input)
  // A replay that made no run changed nothing: a retry goes through it again, for its verdict.
  if (made !== undefined) await noteCall(ledger, call, once, made)
  return output
}

interface EarlierCall {
  readonly digest: unknown
  /** Run that the call made or changed, once it was done. */
  readonly made: string | undefined
}

async function findCall(ledger: Ledger, id: string): Promise<EarlierCall | undefined> {
  const [begun, done] = await Promise.all([
    ledger.getEvent(eventIdOf(id, 'begun')),
    ledger.getEvent(eventIdOf(id, 'done')),
  ])
  if (!begun) return undefined
  const made = done?.payload['made']
  return { digest: begun.payload['inputDigest'], made: typeof made === 'string' ? made : undefined }
}

/** A UUID of version 8, which says that it was made from something: from the id of the call. */
function eventIdOf(id: string, part: 'begun' | 'done'): string {
  const last = part === 'begun' ? '0' : '1'
  return `${id.slice(0, 8)}-${id.slice(8, 12)}-8${id.slice(12, 15)}-8${id.slice(15, 18)}-${id.slice(18, 29)}${last}`
}

const noteCall = (ledger: Ledger, { tool, input, by, reason }: ControlCall, once?: Once, made?: string) =>
  ledger.record(
    auditEvent(
      'system.access',
      {
        action: made === undefined ? 'agent_call' : 'agent_call_done',
        operation: tool.operation.name,
        tool: tool.name,
        target: targetOf(input),
        by,
        reason,
        ...(once && { inputDigest: once.digest }),
        ...(made !== undefined && { made }),
      },
      once && eventIdOf(once.id, made === undefined ? 'begun' : 'done'),
    ),
  )

function targetOf(input: Readonly<Record<string, unknown>>): string {
  const named = [input['runId'], input['key']].find((each) => typeof each === 'string')
  return typeof named === 'string' ? named.slice(0, 600) : 'the workspace'
}

/** What the first call did, in the form of its answer: the run as it is now, nothing driven here. */
async function repeated(ledger: Ledger, runId: string): Promise<unknown> {
  const run = runId === '' ? null : await ledger.getRun(runId)
  if (!run) return { repeated: true, run }
  return { run, worked: false, output: null, divergence: null, warnings: [], repeated: true }
}

/** The run that a call made or changed, empty where it was about no run; undefined where it made none and changed nothing. */
function runOf(output: unknown, input: Readonly<Record<string, unknown>>): string | undefined {
  const { run, runs } = (output ?? {}) as {
    run?: { runId?: unknown }
    runs?: readonly { report?: { runId?: unknown } | null }[]
  }
  const made = runs ? runs[0]?.report?.runId : (run?.runId ?? input['runId'] ?? '')
  return typeof made === 'string' ? made : undefined
}

const otherCall = (tool: Tool, key: string): ClewError =>
  new ClewError(
    'conflict',
    `The idempotency key was used for another call of ${tool.name}`,
    'Use a new key for a new call. Nothing was done.',
    { idempotencyKey: key.slice(0, 80) },
  )
