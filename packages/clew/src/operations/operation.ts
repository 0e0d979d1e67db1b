import type { ClewEvent, HeadSigner, Ledger } from '@clew/ledger'
import type { RestPlace } from '@clew/server'
import type { z } from 'zod'
import type { AgentSet, RunControl } from '../control/run-control.ts'
import type { ImportFile } from '../import/import-foreign.ts'
import { logAccess } from '../log-access.ts'
import { answerRemote, streamRemote } from '../remote/answer-remote.ts'
import { serverOf } from '../remote/server-of.ts'

/** Permission that a caller needs; tokens use the same words (A2). */
export type Scope = 'read' | 'write' | 'control' | 'admin'
export type Surface = 'cli' | 'rest' | 'mcp'

/** Context that a surface passes beside the input: everything that is not data. */
export interface OperationContext {
  readonly signal?: AbortSignal | undefined
  /** Called with the number of events done, and with how many there are where that is known; an exception ends the operation. */
  readonly onProgress?: ((done: number, total?: number) => void) | undefined
  /** Caller, if known, for the compliance log (V8). */
  readonly by?: string | undefined
  /** Signs the certificate of an erasure. */
  readonly signer?: HeadSigner | undefined
  /** Files that `import` reads. */
  readonly files?: readonly ImportFile[] | undefined
  /** A person who can be asked; undefined when none answers in time. */
  readonly ask?: ((pauseId: string, timeoutMs: number) => Promise<string | undefined>) | undefined
  /** Run control; without it no agent is available. */
  readonly control?: RunControl | undefined
  /** Agents that a worker resumes runs with. */
  readonly agents?: AgentSet | undefined
  /** Called with the events of a run that the operation drives. */
  readonly onEvent?: ((event: ClewEvent) => void) | undefined
}

/** Spelling of an operation as a tool of MCP (A5). */
export interface McpPlace {
  /** `list_runs` */
  readonly tool: string
  /** In place of the operation's scope: `approve` is held by nobody who was not given it by name (A7). */
  readonly scope?: 'approve' | undefined
  /** What a call does outside of the record, for a tool that does more than read. */
  readonly effect?: string | undefined
}

export interface CliArgument<Field extends string> {
  /** As it stands in the usage: `clew show <run>`. */
  readonly word: string
  /** The input field it fills; without one the command line uses it itself. */
  readonly field?: Field
  readonly about: string
  readonly required: boolean
  /** One or more of them; a field gets them joined by spaces. */
  readonly many?: boolean
}

export interface CliShape<Field extends string> {
  readonly group: 'Look' | 'Remember' | 'Control' | 'Prove' | 'Move' | 'Begin'
  /** Command words if they differ from the name: `memory list`. Operations with the same first word form one command. */
  readonly words?: readonly [string, string]
  readonly arguments?: readonly CliArgument<Field>[]
  /** Flags that fill an input field, described by the field itself. */
  readonly options?: { readonly [F in Field]?: string }
  /** Flags of the command line alone, such as files and layout, with their description. */
  readonly flags?: Readonly<Record<string, string>>
}

interface Described<Input extends z.ZodObject, Output extends z.ZodType, Name extends string> {
  readonly name: Name
  readonly summary: string
  readonly scope: Scope
  /** Surfaces that must offer the operation; a missing or additional one fails its test (A1). */
  readonly surfaces: readonly Surface[]
  /** HTTP route; required for operations of the surface `rest`. */
  readonly rest?: RestPlace | undefined
  /** Tool; required for operations of the surface `mcp`. */
  readonly mcp?: McpPlace | undefined
  readonly input: Input
  readonly output: Output
  readonly example: { readonly command: string; readonly input: z.input<Input> }
  readonly cli: CliShape<keyof z.input<Input> & string>
}

/** Gives one answer. */
export interface Answering<Input extends z.ZodObject, Output extends z.ZodType, Name extends string = string>
  extends Described<Input, Output, Name> {
  readonly kind: 'answer'
  run(ledger: Ledger, input: z.output<Input>, context?: OperationContext): Promise<z.output<Output>>
}

/** Gives one item after the other; `output` describes an item. */
export interface Streaming<Input extends z.ZodObject, Output extends z.ZodType, Name extends string = string>
  extends Described<Input, Output, Name> {
  readonly kind: 'stream'
  run(ledger: Ledger, input: z.output<Input>, context?: OperationContext): AsyncIterable<z.output<Output>>
}

export type Operation = Answering<z.ZodObject, z.ZodType> | Streaming<z.ZodObject, z.ZodType>

/** Infers the types of one operation from its schemas. Given a ledger that is a server, it is asked for there. */
export function answering<Input extends z.ZodObject, Output extends z.ZodType, const Name extends string>(
  operation: Omit<Answering<Input, Output, Name>, 'kind'>,
): Answering<Input, Output, Name> {
  return {
    kind: 'answer',
    ...operation,
    async run(ledger, input, context) {
      const server = serverOf(ledger)
      if (!server) {
        await noteRead(ledger, operation, input, context)
        return operation.run(ledger, input, context)
      }
      return (await answerRemote(server, operation, input, context?.signal)) as z.output<Output>
    },
  }
}

export function streaming<Input extends z.ZodObject, Output extends z.ZodType, const Name extends string>(
  operation: Omit<Streaming<Input, Output, Name>, 'kind'>,
): Streaming<Input, Output, Name> {
  async function* noted(
    ...[ledger, input, context]: Parameters<typeof operation.run>
  ): AsyncGenerator<z.output<Output>> {
    // Behind what was asked for: an export is not changed by being made.
    try {
      yield* operation.run(ledger, input, context)
    } finally {
      await noteRead(ledger, operation, input, context)
    }
  }
  return {
    kind: 'stream',
    ...operation,
    run(ledger, input, context) {
      const server = serverOf(ledger)
      if (!server) return noted(ledger, input, context)
      return streamRemote(server, operation, input, context?.signal) as AsyncIterable<z.output<Output>>
    },
  }
}

/** V8: exports always, reads where the workspace asks for it. */
async function noteRead(
  ledger: Ledger,
  { name, scope }: Pick<Operation, 'name' | 'scope'>,
  input: Readonly<Record<string, unknown>>,
  context: OperationContext | undefined,
): Promise<void> {
  const isExport = name === 'export'
  if (scope !== 'read' || (!isExport && (await ledger.policy()).auditReads !== true)) return
  const named = [input['runId'], input['eventId'], input['query']].find((each) => typeof each === 'string')
  const target = named ?? 'the workspace'
  await logAccess(ledger, { action: isExport ? 'export' : 'read', operation: name, target, by: context?.by })
}

/** Command as typed after `clew`. */
export const commandOf = ({ name, cli }: Pick<Operation, 'name' | 'cli'>): string =>
  cli.words?.join(' ') ?? name
