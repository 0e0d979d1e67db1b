import { ClewError } from '@clew/ledger'
import { isSend, type Send } from './command.ts'
import type { Branch } from './definition.ts'

/** Recorded decision of a branch: names of nodes, END as text. */
export interface Decision {
  readonly targets: readonly string[]
  readonly sends: readonly Send[]
}

/**
 * Reads what the function of a branch returned: a name or label, a boolean where the labels are true and false, a send,
 * or a list of these. Never the raw return is kept, only the names it stands for.
 */
export function readDecision(branch: Branch, returned: unknown): Decision {
  const targets: string[] = []
  const sends: Send[] = []
  const all: readonly unknown[] = Array.isArray(returned) ? returned : [returned]
  for (const each of all) {
    if (isSend(each)) {
      if (!branch.targets.some(({ target }) => target === each.node))
        refuse(branch, `a send to "${each.node}"`)
      sends.push(each)
      continue
    }
    const target = targetOf(branch, each)
    if (!targets.includes(target)) targets.push(target)
  }
  return { targets, sends }
}

function targetOf(branch: Branch, returned: unknown): string {
  const name = typeof returned === 'boolean' ? String(returned) : returned
  const found = branch.targets.find(({ label, target }) => (label ?? target) === name)
  return found ? found.target : refuse(branch, typeof name === 'string' ? `"${name}"` : kindOf(name))
}

const kindOf = (value: unknown): string =>
  value === undefined ? 'nothing' : value === null ? 'null' : `a ${typeof value}`

function refuse({ from, targets }: Branch, what: string): never {
  const known = targets.map(({ label, target }) => label ?? target).join(', ')
  throw new ClewError(
    'bad_graph',
    `The decision at "${from}" gave ${what}, which is not among its targets`,
    `Return one of ${known}, a list of them, or sends to them; or add the target where the decision is declared.`,
    { node: from, known },
  )
}
