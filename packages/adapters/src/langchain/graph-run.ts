import type { EventInput } from '@clew/ledger'

/** The runs that a saver on the same ledger writes for a graph, so that callbacks record into them, too. */
export interface GraphRun {
  /** The run of a graph or sub-graph by its namespace; undefined if the saver has not begun one. */
  runOf(ns: string): Promise<string | undefined>
  append(ns: string, runId: string, events: readonly EventInput[]): Promise<void>
}
