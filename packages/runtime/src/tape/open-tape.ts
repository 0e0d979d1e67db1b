import type { Ledger } from '@clew/ledger'
import type { Caller } from '../machine/machine-types.ts'
import { installFetch } from './install-fetch.ts'
import { createTape } from './tape.ts'
import type { TapeRules } from './tape-options.ts'

/** Puts what the code of a machine fetches on tape, before that code begins. */
export function openTape(
  machine: Caller,
  rules: TapeRules | undefined,
  { redactor }: Ledger,
  { isReplay } = { isReplay: false },
): void {
  if (!rules) return
  // Other code may have replaced `fetch` since the agent was created.
  installFetch()
  machine.root.tape = createTape(machine, redactor, rules, isReplay)
}
