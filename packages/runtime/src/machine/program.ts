import type { ClewEvent, Ledger, PromotionRule, RunSummary } from '@clew/ledger'
import type { PruneStates } from '../checkpointer/retention.ts'
import type { ResumeDivergence, RunListener } from '../run/result.ts'
import type { TapeRules } from '../tape/tape-options.ts'
import type { Budget } from './budget.ts'
import type { EventDraft, RunAppender } from './run-appender.ts'
import type { RedactedText } from './placeholders.ts'
import type { Caller, Durability } from './machine-types.ts'

/** What the machine runs: a function or a graph, told apart only here. */
export interface Program {
  readonly kind: 'function' | 'graph'
  readonly name: string
  readonly version: string | undefined
  /** What a resume must find unchanged; null where input digests are the only detector. */
  readonly structureHash: string | null
  /** Of a graph, by node: recorded, so that a fork with a changed graph can tell what is still the same. */
  readonly signatures?: Readonly<Record<string, string>> | undefined
  /** Undefined: as the ledger says. */
  readonly durability: Durability | undefined
  readonly budget?: Budget | undefined
  /** What its runs may promote in memory; default as the ledger says. */
  readonly promote?: readonly PromotionRule[] | undefined
  /** What its code fetches is recorded, by these rules. */
  readonly tape?: TapeRules | undefined
  /** Of a graph: lets the states go that its retention no longer keeps; its sub-graphs follow it (R10). */
  readonly prune?: PruneStates | undefined
  /** The events from which a run goes on: all of a function's, a graph's first one and those since its last checkpoint. */
  load(ledger: Ledger, runId: string): Promise<ClewEvent[]>
  /** What a new run on a thread continues. */
  findPrevious?(ledger: Ledger, threadId: string): Promise<Previous | undefined>
  /** The same for a run that began already. */
  readPrevious?(ledger: Ledger, started: ClewEvent): Promise<Previous | undefined>
  /** What is recorded together with the start. */
  open?(begin: Begin): { readonly events: readonly EventDraft[] } & ProgramBase
  /**
   * Where a recorded run goes on from; a divergence when the record lacks what its code would be given (P2). A replay,
   * which reaches nothing, takes it as it is.
   */
  restore?(
    ledger: Ledger,
    runId: string,
    events: readonly ClewEvent[],
    options?: { readonly isReplay: boolean },
  ): Promise<ProgramBase | { readonly divergence: ResumeDivergence }>
  code(machine: Caller, opening: Opening): () => Promise<unknown>
  /** What is recorded as the output; a graph's is its state, which is in the record already. */
  keptOutput(output: unknown): unknown
  /** What a completed run gave. */
  outputOf(ledger: Ledger, runId: string): Promise<unknown>
}

/** What the code goes on from, and the text in it that lacks its secrets. */
interface ProgramBase {
  readonly from: unknown
  readonly redactedTexts?: readonly RedactedText[]
}

export interface Previous {
  readonly run: RunSummary
  /** Place of the checkpoint that is continued. */
  readonly seq: number
  /** The state there, as the program itself keeps it. */
  readonly head: unknown
}

export interface Begin {
  readonly runId: string
  readonly threadId: string | null
  readonly input: unknown
  readonly previous: Previous | undefined
  readonly journal: RunAppender
  readonly cause: string
}

/** Where the code begins. */
export interface Opening {
  readonly runId: string
  readonly threadId: string | null
  readonly input: unknown
  /** What `open` made, when the run begins here and now, or what `restore` found. */
  readonly from: unknown
  readonly events: readonly ClewEvent[]
  /** Undefined where nothing is recorded. */
  readonly ledger: Ledger | undefined
  /** In a replay: how many supersteps the run may take, given the graph's own limit. */
  readonly limitSupersteps?: ((own: number) => number) | undefined
  readonly prune?: PruneStates | undefined
  readonly listener: RunListener
}
