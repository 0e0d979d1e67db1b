import { type ClewEvent, createDeriver } from '@clew/ledger'
import { patchIn } from '../machine/patches.ts'
import { clockKey } from '../machine/record.ts'
import { sha256 } from '../machine/run-appender.ts'
import type { Scope } from '../machine/scope.ts'
import { isSameStatement, saidIn, type Statement, type Statements } from '../machine/statements.ts'
import type { ReplayState } from './replay-state.ts'

export interface StatementComparer extends Statements {
  /** The code has ended: with what left unsaid. */
  end(): void
}

export function createStatementComparer(state: ReplayState): StatementComparer {
  const { options, record } = state
  const entered = new Map<string, Scope>()
  const keyOf = ({ path, attempt }: Scope): string => clockKey(path, attempt)
  const place = ({ path }: Scope, seq: number | null) => ({
    step: null,
    stepId: path === '' ? null : path,
    seq,
  })
  const shown = ({ eventType, payload }: ClewEvent | Statement) => ({ eventType, ...saidIn(payload) })

  return {
    entered: (scope) => void entered.set(keyOf(scope), scope),
    make(scope, statement) {
      const count = scope.statements++
      const said = record.statements.get(keyOf(scope))?.[count]
      if (said) {
        const isSame = record.isShared(said) || isSameStatement(said, statement, options.comparison)
        if (!isSame && !state.isLenient)
          state.diverge('output', place(scope, said.ledger.seq), shown(said), shown(statement))
        return said.eventId
      }
      // A run that has not ended may have lost it with its process.
      if (record.end && !state.isLenient) state.diverge('extra', place(scope, null), null, shown(statement))
      return createDeriver(sha256, options.runId)(statement.eventType, scope.path, scope.attempt, count)
    },
    patched: (scope, id) => patchIn(record, scope, id) !== 'old',
    flush() {},
    end() {
      for (const [key, scope] of entered) {
        const unsaid = record.statements.get(key)?.[scope.statements]
        if (unsaid && !record.isShared(unsaid) && !state.isLenient)
          state.diverge('missing', place(scope, unsaid.ledger.seq), shown(unsaid), null)
      }
    },
  }
}
