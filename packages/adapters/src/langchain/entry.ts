import type { EventInput } from '@clew/ledger'
import type { JoinedGraph } from './joined-graph.ts'
import type { LiveStep } from './live-step.ts'
import type { OpenStep, RecordedRun, Scope } from './recorded-run.ts'

/** A call of LangChain's that has begun and not ended. */
export interface Entry {
  readonly lcRunId: string
  readonly kind: 'root' | 'hidden' | 'chain' | 'node' | 'model' | 'tool' | 'retriever'
  readonly name: string
  readonly run: RecordedRun
  /** Scope of the calls made inside. */
  readonly scope: Scope
  readonly step: OpenStep | undefined
  readonly isTop: boolean
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly toolCallId?: string | undefined
  /** The event that its result answers. */
  readonly callEventId?: string | undefined
  readonly live?: LiveStep | undefined
  readonly decisions: string[]
  /** The runs of a graph that a saver writes. */
  readonly joined?: JoinedGraph | undefined
}

export type IdentifiedEvent = EventInput & { readonly eventId: string }
