import type { Suspect } from '@clew/ledger'
import type { Terminal } from './terminal.ts'
import { printable, wrap } from './text.ts'

/** The likely cause, and what else it may be. */
export function suspectLines({ output, width }: Terminal, suspects: readonly Suspect[]): string[] {
  const { dim } = output.colour
  if (suspects.length === 0) return [`${dim('CAUSE')}  nothing found: no event of this run looks wrong`]
  return suspects.flatMap(({ seq, eventId, kind, why, stepId }, at) => {
    const [first = '', ...more] = wrap(printable(`${kind}: ${why}`), width - 4)
    return [
      `${dim(at === 0 ? 'LIKELY CAUSE' : 'OR')}  #${seq}${stepId === null ? '' : ` ${printable(stepId)}`} ${dim(eventId)}`,
      `  ${first}`,
      ...more.slice(0, 3).map((line) => `  ${line}`),
    ]
  })
}
