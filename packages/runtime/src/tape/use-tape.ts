import type { Program } from '../machine/program.ts'
import type { Scope } from '../machine/scope.ts'
import { installFetch } from './install-fetch.ts'
import { checkTape, type TapeOptions, type TapeRules } from './tape-options.ts'

/** Parses `recordFetch` and installs the global `fetch`, before clients are created that keep a reference to it. */
export function useTape(option: boolean | TapeOptions | undefined): TapeRules | undefined {
  const rules = checkTape(option)
  if (rules) installFetch()
  return rules
}

/** A graph in place of a node is on the tape of the graph around it, unless it has its own. */
export const onTapeOf = ({ tape }: Scope, program: Program): Program =>
  tape && !program.tape ? { ...program, tape: tape.rules } : program
