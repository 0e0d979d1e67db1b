import type { Ledger } from '@clew/ledger'
import type { z } from 'zod'
import type { OpenLedgerOptions } from '../open-ledger.ts'
import type { Operation } from '../operations/operation.ts'
import type { Terminal } from './terminal.ts'

export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

export interface CommandContext<Input> {
  readonly input: Input
  /** Flags and arguments of the command line alone, by name. */
  readonly flags: Flags
  readonly terminal: Terminal
  readonly storeUrl: string
  /** Opens the store that was named and closes it after the work, whatever happens. */
  withLedger<T>(work: (ledger: Ledger) => Promise<T>, options?: OpenLedgerOptions): Promise<T>
}

/** Answers with the exit code. */
export type Command<Input> = (context: CommandContext<Input>) => Promise<number>

export type InputOf<O extends Operation> = z.output<O['input']>

export const text = (flag: Flags[string]): string | undefined => (typeof flag === 'string' ? flag : undefined)
