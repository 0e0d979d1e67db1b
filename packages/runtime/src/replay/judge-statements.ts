import { type ClewEvent, createDeriver } from '@clew/ledger'
import { clockKey } from '../machine/record.ts'
import { sha256 } from '../machine/run-appender.ts'
import type { Scope } from '../machine/scope.ts'
import { isSameStatement, saidIn, type Statement } from '../machine/statements.ts'
import type { ReplayCore } from './replay-core.ts'

export interface StatementJudge {
  /** A body is entered: from here on it owes what it said. */
  enter(scope: Scope): void
  /** What the code says now beside what it said then (R13); gives the id of the recorded event. */
  make(scope: Scope, statement: Statement): string
  /** The code has ended: with what left unsaid. */
  end(): void
}

export function createStatementJudge(core: ReplayCore): StatementJudge {
  const { options, record } = core
  const entered = new Map<string, Scope>()
  const keyOf = ({ path, attempt }: Scope): string => clockKey(path, attempt)
  const place = ({ path }: Scope, seq: number | null) => ({
    step: null,
    stepId: path === '' ? null : path,
    seq,
  })
  const shown = ({ eventType, payload }: ClewEvent | Statement) => ({ eventType, ...saidIn(payload) })

  return {
    enter: (scope) => void entered.set(keyOf(scope), scope),
    make(scope, statement) {
      const count = scope.statements++
      const said = record.statements.get(keyOf(scope))?.[count]
      if (said) {
        const isSame = record.isShared(said.eventId) || isSameStatement(said, statement, options.comparison)
        if (!isSame && !core.isLenient)
          core.diverge('output', place(scope, said.ledger.seq), shown(said), shown(statement))
        return said.eventId
      }
      // A run that has not ended may have lost it with its process.
      if (record.end && !core.isLenient) core.diverge('extra', place(scope, null), null, shown(statement))
      return createDeriver(sha256, options.runId)(statement.eventType, scope.path, scope.attempt, count)
    },
    end() {
      for (const [key, scope] of entered) {
        const unsaid = record.statements.get(key)?.[scope.statements]
        if (unsaid && !record.isShared(unsaid.eventId) && !core.isLenient)
          core.diverge('missing', place(scope, unsaid.ledger.seq), shown(unsaid), null)
      }
    },
  }
}
