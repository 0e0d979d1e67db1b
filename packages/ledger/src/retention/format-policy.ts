import type { RetentionPolicyInput } from './policy.ts'

/** The policy as a file: JSON with one rule on each line. */
export function formatPolicy({ rules, keep }: RetentionPolicyInput): string {
  const list = (name: string, all: readonly unknown[]): string =>
    all.length === 0
      ? `  "${name}": []`
      : `  "${name}": [\n${all.map((each) => `    ${JSON.stringify(each)}`).join(',\n')}\n  ]`
  const parts = [list('rules', rules), ...(keep === undefined ? [] : [list('keep', keep)])]
  return `{\n${parts.join(',\n')}\n}\n`
}
