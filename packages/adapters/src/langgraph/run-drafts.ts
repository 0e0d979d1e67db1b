import type { Ledger, Payload, RunTags } from '@clew/ledger'
import { type BufferedEvent, type RunBuffer, openLine } from './run-buffer.ts'
import type { SavedCheckpoint, Saved } from './saved.ts'
import type { NamespaceKey } from './namespace-key.ts'

export interface RunOrigin extends NamespaceKey {
  readonly ledger: Ledger
  readonly threadName: string
  readonly agent: string
  /** Parent step of a new run, if it is one of a sub-graph. */
  readonly parentStep: (runId: string) => ParentStep | undefined
  /** Waits until `parentStep` can answer for a run that begins with this checkpoint. */
  readonly whenParentKnown: (parents: CheckpointParents) => Promise<void>
  /** Stops runs of sub-graphs that wait below this run, which has ended. */
  readonly stopBelow: (runId: string) => Promise<void>
}

/** Ids of the checkpoints of the graphs around, by namespace. */
export type CheckpointParents = Readonly<Record<string, string>> | undefined

/** Parent of a sub-graph's run: the run and step that started it. */
export interface ParentStep {
  readonly runId: string
  readonly stepId: string | undefined
  /** The event that led to it. */
  readonly eventId: string | undefined
}

export interface RunBeginning {
  readonly agent?: string | undefined
  readonly parentStep?: ParentStep | undefined
  readonly input?: unknown
  readonly eventId?: string | undefined
  /** The checkpoint of the run before it in its thread. */
  readonly previous?: SavedCheckpoint | undefined
}

/** The first event of a run. The thread's own name is added only where the ledger knows it by another. */
export function startDraft(
  { ledger, thread, threadName, ns, agent }: RunOrigin,
  { agent: name = agent, parentStep, input, eventId, previous }: RunBeginning,
): BufferedEvent {
  return {
    type: 'system.workflow_started',
    eventId,
    // An invocation inside of `ledger.causedBy`, as that of a session: what it answers led to it.
    causationId: ledger.currentCause() ?? parentStep?.eventId,
    payload: {
      agent: name,
      threadId: threadName,
      ...parentFields(parentStep),
      ...(previous && { previous: { runId: previous.runId, seq: previous.seq } }),
      ...(input !== undefined && { input }),
      ...((ns !== '' || thread !== threadName) && { langgraph: { threadId: thread, ns } }),
    },
  }
}

const parentFields = (parentStep: ParentStep | undefined): Payload =>
  parentStep
    ? {
        parentRunId: parentStep.runId,
        ...(parentStep.stepId !== undefined && { parentStepId: parentStep.stepId }),
      }
    : {}

/** A run that branches off a checkpoint which something else has gone on from. */
export function forkAt(
  saved: Saved,
  runId: string,
  threadName: string,
  {
    tags,
    parentStep,
  }: { readonly tags: { readonly tags?: RunTags }; readonly parentStep?: ParentStep | undefined },
): { line: RunBuffer; draft: BufferedEvent } {
  const { seq, superstep, baseSeq, createdAt } = saved
  const payload = {
    sourceRunId: saved.runId,
    sourceSeq: seq,
    threadId: threadName,
    ...parentFields(parentStep),
    checkpoint: { id: saved.id, superstep, seq, baseSeq, createdAt },
    ...tags,
  }
  return {
    line: openLine(runId, { seq, head: { ...saved, writes: [] }, status: 'running' }),
    draft: { type: 'system.workflow_forked', payload },
  }
}

/** The same event with the input that the run begins with. */
export const withInput = (draft: BufferedEvent, input: unknown): BufferedEvent =>
  input === undefined ? draft : { ...draft, payload: { ...draft.payload, input } }
