import type { Ledger } from '@clew/ledger'
import type { z } from 'zod'
import type { Scope } from './principal.ts'

/** Route of an operation: `/v1/runs/{runId}/steps`, each `{field}` a field of its input. */
export interface RestPlace {
  readonly method: 'get' | 'post'
  readonly path: string
  /** Second path, without the fields in `path`. */
  readonly also?: string | undefined
  /** Follows the ledger: the server has a route of its own. */
  readonly isLive?: boolean | undefined
  /** Paging of a stream. */
  readonly page?: RestPage | undefined
}

export interface RestPage {
  /** Name of the items in the answer. */
  readonly items: string
  /** Input field for the place after which a page begins. */
  readonly cursor: string
  /** Value of that field for the page after this item. */
  at(item: unknown): number
}

export interface ServedContext {
  readonly signal?: AbortSignal | undefined
  /** Controls runs; only for callers with the scope. */
  readonly control?: unknown
  /** Name of the caller's token, for the audit of reads. */
  readonly by?: string | undefined
}

interface Described {
  readonly name: string
  readonly summary: string
  readonly scope: Scope
  readonly surfaces: readonly string[]
  readonly rest?: RestPlace | undefined
  readonly input: z.ZodObject
  readonly output: z.ZodType
  readonly example: { readonly input: unknown }
}

interface Answering extends Described {
  readonly kind: 'answer'
  run(ledger: Ledger, input: Record<string, unknown>, context?: ServedContext): Promise<unknown>
}

interface Streaming extends Described {
  readonly kind: 'stream'
  run(ledger: Ledger, input: Record<string, unknown>, context?: ServedContext): AsyncIterable<unknown>
}

/** An operation of `clew`, as far as the server needs it. */
export type ServedOperation = Answering | Streaming
