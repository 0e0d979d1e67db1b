import { hash } from 'node:crypto'
import { deriveId, type JsonValue, type Ledger } from '@clew/ledger'
import type { Agent, Fault, RunResult } from './agent.ts'
import type { RunRecord } from './record.ts'

/** What a run goes on in. */
export interface World {
  readonly ledger: Ledger
  readonly clock: () => number
  readonly faults: ReadonlySet<Fault>
  /** Starts or goes on with a child run; `answers` are those its parent has received. */
  child(agent: Agent, input: JsonValue, link: ChildLink): Promise<RunResult & { restored?: boolean }>
}

export interface ChildLink {
  readonly runId: string
  readonly seed: string
  readonly parentRunId: string
  readonly parentStepId: string
  readonly cause: string
  readonly answers: RunRecord['answers']
}

export const sha256 = (text: string): string => hash('sha256', text)
export const SOURCE = { origin: 'agent', runtime: 'clew' } as const
/** Belongs to the step and what it was given: the same for each attempt, another one for another input. */
export const idempotencyKeyOf = (runId: string, stepId: string, digest: string): string =>
  deriveId(sha256, runId, 'effect', stepId, digest)
