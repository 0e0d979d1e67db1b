import type { Ledger } from '@clew/ledger'
import type { Tool } from './tool.ts'

/** Shared by all connections of a server. */
export interface McpParts {
  readonly tools: readonly Tool[]
  readonly version: string
  /** Ten hex characters that cannot be guessed. */
  randomHex(): string
  /** Ids that are written short, made whole. Throws `not_found` with near ids, or `ambiguous`. */
  resolveIds(ledger: Ledger, input: Record<string, unknown>): Promise<Record<string, unknown>>
  onError?(error: unknown): void
}
