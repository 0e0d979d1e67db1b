import type { ClewEvent, Ledger, PromotionRule, RunSummary } from '@clew/ledger'
import type { PruneStates } from '../checkpointer/retention.ts'
import type { ResumeDivergence, RunListener } from '../run/result.ts'
import type { SignalSchemas } from '../signal/signal-schemas.ts'
import type { TapeRules } from '../tape/tape-options.ts'
import type { Budget } from './budget.ts'
import type { EventDraft, RunAppender } from './run-appender.ts'
import type { RedactedText } from './placeholders.ts'
import type { Caller, Durability } from './machine-types.ts'

/** Code that the machine runs: a function or a graph. Only this interface distinguishes them. */
export interface Program {
  readonly kind: 'function' | 'graph'
  readonly name: string
  readonly version: string | undefined
  /** Hash that a resume must find unchanged; null if only input digests detect changes. */
  readonly structureHash: string | null
  /** Signatures of a graph's nodes. They are recorded, so that a fork with a changed graph knows which nodes are unchanged. */
  readonly signatures?: Readonly<Record<string, string>> | undefined
  /** Undefined: as the ledger says. */
  readonly durability: Durability | undefined
  readonly budget?: Budget | undefined
  /** Promotion rules of memory for its runs; default those of the ledger. */
  readonly promote?: readonly PromotionRule[] | undefined
  /** Schemas of the signals that its runs receive. */
  readonly signals?: SignalSchemas | undefined
  /** Rules by which fetches of its code are recorded. */
  readonly tape?: TapeRules | undefined
  /** For graphs: prunes states that the retention policy no longer keeps, of sub-graphs too (R10). */
  readonly prune?: PruneStates | undefined
  /** The events from which a run goes on: all of a function's, a graph's first one and those since its last checkpoint. */
  load(ledger: Ledger, runId: string): Promise<ClewEvent[]>
  /** Finds the run that a new run on a thread continues. */
  findPrevious?(ledger: Ledger, threadId: string): Promise<Previous | undefined>
  /** The same for a run that began already. */
  readPrevious?(ledger: Ledger, started: ClewEvent): Promise<Previous | undefined>
  /** Events recorded together with the start. */
  open?(begin: Begin): { readonly events: readonly EventDraft[] } & ProgramBase
  /**
   * State from which a recorded run continues; a divergence if the record lacks values that the code needs (P2). A replay,
   * which reaches nothing, takes it as it is.
   */
  restore?(
    ledger: Ledger,
    runId: string,
    events: readonly ClewEvent[],
    options?: { readonly isReplay: boolean },
  ): Promise<ProgramBase | { readonly divergence: ResumeDivergence }>
  code(machine: Caller, opening: Opening): () => Promise<unknown>
  /** Value recorded as the output; undefined for a graph, whose output is its recorded state. */
  keptOutput(output: unknown): unknown
  /** Output of a completed run. */
  outputOf(ledger: Ledger, runId: string): Promise<unknown>
}

/** State from which the code continues, and the redacted texts in it. */
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
  /** Seq of the start, before which a submission stands. Default 1. */
  readonly seq?: number | undefined
}

/** Start of the code. */
export interface Opening {
  readonly runId: string
  readonly threadId: string | null
  readonly input: unknown
  /** Result of `open` for a new run, or of `restore`. */
  readonly from: unknown
  readonly events: readonly ClewEvent[]
  /** Undefined where nothing is recorded. */
  readonly ledger: Ledger | undefined
  /** In a replay: how many supersteps the run may take, given the graph's own limit. */
  readonly limitSupersteps?: ((own: number) => number) | undefined
  readonly prune?: PruneStates | undefined
  readonly listener: RunListener
}
