import type { JsonObject } from '@clew/ledger'

/** A call of a tool that an answer recommends, ready to be made. */
export interface NextCall {
  readonly tool: string
  readonly input: JsonObject
  readonly why: string
}

/** Rows of which as many are shown as fit. */
export interface Rows {
  /** What a row is, in the plural: `steps`. */
  readonly what: string
  readonly rows: readonly string[]
  /** Further ones that `rows` lacks; null if their number is not known. */
  readonly more: number | null
  /** The call that gets what follows the first `shown` rows. */
  rest(shown: number): Omit<NextCall, 'why'> | null
}

/** A tool's answer before it is cut to its budget: text from the record, line by line, and calls that are worth making. */
export interface View {
  readonly head: readonly string[]
  readonly lists?: readonly Rows[] | undefined
  readonly next?: readonly NextCall[] | undefined
}
