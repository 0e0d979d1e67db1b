import type { Ledger } from '@clew/ledger'
import type { z } from 'zod'
import type { Scope } from './principal.ts'

/** HTTP route of an operation: `/v1/runs/{runId}/steps`, each `{field}` an input field. */
export interface RestPlace {
  readonly method: 'get' | 'post'
  readonly path: string
  /** Second route, for calls without the fields in `path`. */
  readonly also?: string | undefined
  /** Follows the ledger: the server has a route of its own for it. */
  readonly isLive?: boolean | undefined
  /** How a stream is given in pages. */
  readonly page?: RestPage | undefined
}

export interface RestPage {
  /** Name of the list in the answer. */
  readonly items: string
  /** The input field that says after what a page begins. */
  readonly cursor: string
  /** Cursor of the page after this item. */
  at(item: unknown): number
}

export interface ServedContext {
  readonly signal?: AbortSignal | undefined
  /** Run control, only for callers with that permission. */
  readonly control?: unknown
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

/** An operation of the list in `clew`, as far as the server needs to know it. */
export type ServedOperation = Answering | Streaming
