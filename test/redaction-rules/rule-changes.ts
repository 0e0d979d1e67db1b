import type { RedactionRule } from '@clew/ledger'

/** What the rules of these tests take out: no detector of Clew's own knows it. */
export const CASE = 'case-4711'
export const OTHER_CASE = 'case-0815'

const NAMED: readonly RedactionRule[] = [{ kind: 'case', pattern: /case-\d+/ }]
const RENAMED: readonly RedactionRule[] = [{ kind: 'file-number', pattern: /case-\d+/ }]

export interface RuleChange {
  readonly before: { readonly redact: { readonly rules: readonly RedactionRule[] } }
  readonly after: { readonly redact: { readonly rules: readonly RedactionRule[] } }
}

const change = (before: readonly RedactionRule[], after: readonly RedactionRule[]): RuleChange => ({
  before: { redact: { rules: before } },
  after: { redact: { rules: after } },
})

/** Between recording and what comes after it. */
export const RULE_CHANGES: readonly (readonly [string, RuleChange])[] = [
  ['unchanged', change(NAMED, NAMED)],
  ['added', change([], NAMED)],
  ['removed', change(NAMED, [])],
  ['renamed', change(NAMED, RENAMED)],
]
