import type { JsonValue } from '../../packages/ledger/src/json.ts'

type Carry = (secret: string) => JsonValue

const inside = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Where secrets turn up in what agents record; the rules were tried in these. */
export const TRIED: readonly Carry[] = [
  (secret) => `I set it to ${secret} and it worked`,
  (secret) => ({ role: 'tool', content: `$ env\nHOME=/root\n${secret}\nLANG=C` }),
  (secret) => ({ arguments: JSON.stringify({ command: `run ${secret}`, cwd: '/srv' }) }),
  (secret) => [{ type: 'text', text: `("${secret}")` }],
  (secret) => ({ error: { message: `rejected: ${secret}` } }),
]

/** The same for the held-out part: other layouts. */
export const UNTRIED: readonly Carry[] = [
  (secret) => `| field | value |\n|---|---|\n| it | ${secret} |`,
  (secret) => `<config>\n  <entry>${secret}</entry>\n</config>`,
  (secret) => ({ body: `{"outer":"{\\"inner\\":\\"${inside(inside(secret))}\\"}"}` }),
  (secret) => `2026-11-15T07:00:00Z WARN worker[17] using ${secret} for upstream=eu-1 attempt=2`,
  (secret) => ['-', `    at load (config.js:3:9) { value: '${secret}' }`],
  (secret) => `id,value,owner\r\n7,${secret},ops\r\n`,
]
