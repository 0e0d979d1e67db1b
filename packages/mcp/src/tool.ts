import type { Ledger } from '@clew/ledger'
import type { z } from 'zod'
import type { View } from './view.ts'

/** What a call brings beside its input. */
export interface ToolContext {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((done: number, total?: number) => void) | undefined
  readonly by?: string | undefined
  readonly control?: unknown
}

interface Described {
  readonly name: string
  readonly summary: string
  readonly scope: 'read' | 'write' | 'control' | 'admin'
  readonly input: z.ZodObject
}

/** An operation of `clew`, as far as a tool needs it. */
export type OfferedOperation = Described &
  (
    | {
        readonly kind: 'answer'
        run(ledger: Ledger, input: Record<string, unknown>, context?: ToolContext): Promise<unknown>
      }
    | {
        readonly kind: 'stream'
        run(ledger: Ledger, input: Record<string, unknown>, context?: ToolContext): AsyncIterable<unknown>
      }
  )

/** An operation in its spelling for MCP. */
export interface Tool {
  /** `list_runs` */
  readonly name: string
  readonly operation: OfferedOperation
  /** In place of the operation's own: `approve` is held by nobody who was not given it by name. */
  readonly scope: OfferedOperation['scope'] | 'approve'
  /** What a call does outside of the record, for a tool that is not read-only. */
  readonly effect?: string | undefined
  /** Fields of the operation that are not offered, such as `by`, which is the caller. */
  readonly hidden?: readonly string[] | undefined
  /** Values of fields that the caller leaves out, where they differ from the operation's own. */
  readonly defaults?: Readonly<Record<string, unknown>> | undefined
  /** Refuses what the scope alone does not: memory that no policy opens to agents. */
  assertAllowed?(ledger: Ledger, input: Readonly<Record<string, unknown>>): Promise<void>
  /** Turns the stream of a streaming operation into one answer. */
  collect?(ledger: Ledger, input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<unknown>
  view(output: unknown, input: Readonly<Record<string, unknown>>, ledger: Ledger): View | Promise<View>
}

/** Who calls, and what is there for them. */
export interface Session {
  readonly ledger: Ledger
  readonly control?: unknown
  /** Name of the token; undefined for a program on this machine. */
  readonly principal?: string | undefined
  may(tool: Tool): boolean
  /** What has to be done to be allowed this tool. */
  howToAllow(tool: Tool): string
}

export const isReadOnly = ({ scope }: Tool): boolean => scope === 'read'
