import type { JsonValue } from '../json.ts'

/** What the neighbours of a value in a list say about it: the message before that asks for a secret, the head of a table above. */

const TEXTS = ['text', 'content', 'body', 'msg', 'message'] as const
type TextName = (typeof TEXTS)[number]

const isObject = (value: JsonValue | undefined): value is { [key: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Under which name the messages of a list have their texts. */
export function textNameOf(items: readonly JsonValue[]): TextName | undefined {
  const [first] = items
  return items.length > 1 && isObject(first)
    ? TEXTS.find((name) => typeof first[name] === 'string')
    : undefined
}

const LONGEST_QUESTION = 240
const LONGEST_ANSWER = 160
const ASKS =
  /(?:pass(?:word|wort|phrase|code|e\b)|kennwort|contrase|senha|\bpwd?\b|\bpin\b|\bcode\b|\botp\b|\b2fa\b|парол|密码|パスワード|비밀번호)[^\r\n]{0,100}$/i

/** What stands before the answer when both are read as one text. */
export function questionBefore(items: readonly JsonValue[], at: number, name: string): string | undefined {
  const [before, item] = [items[at - 1], items[at]]
  if (!isObject(before) || !isObject(item)) return undefined
  const [question, answer] = [before[name], item[name]]
  return typeof question === 'string' &&
    typeof answer === 'string' &&
    question.length <= LONGEST_QUESTION &&
    answer.length <= LONGEST_ANSWER &&
    ASKS.test(question)
    ? `${question.slice(question.lastIndexOf('\n') + 1)}${TURN}`
    : undefined
}
export const TURN = '\nA: '

const MOST_COLUMNS = 40
/** The names of the columns, when the first row of a table has nothing but names. */
export function headOf(items: readonly JsonValue[]): readonly string[] | undefined {
  const [head, row] = items
  return Array.isArray(head) &&
    Array.isArray(row) &&
    head.length > 2 &&
    head.length === row.length &&
    head.length <= MOST_COLUMNS &&
    head.every((name) => typeof name === 'string' && name.length <= 40)
    ? (head as string[])
    : undefined
}

/** The same where an object has them apart: `{ columns: ['login', 'password'], rows: [['kim', …]] }`. */
export const isRows = (key: string): boolean => /^(?:rows|data|values|results?|records)$/.test(key)
export function headBeside(
  source: Readonly<Record<string, JsonValue>>,
  rows: JsonValue | undefined,
): readonly string[] | undefined {
  if (!Array.isArray(rows) || !Array.isArray(rows[0])) return undefined
  const head = source['columns'] ?? source['fields'] ?? source['headers'] ?? source['header']
  if (!Array.isArray(head) || head.length !== rows[0].length || head.length > MOST_COLUMNS) return undefined
  return head.map((one) => {
    const name = isObject(one) ? one['name'] : one
    return typeof name === 'string' ? name : ''
  })
}

/** An entry of a map or of a header list. */
export type Pair = [string, JsonValue]
export const isPair = (item: JsonValue): item is Pair =>
  Array.isArray(item) && item.length === 2 && typeof item[0] === 'string'

/** As attributes of OpenTelemetry have their text. */
export const isStringValue = (value: JsonValue | undefined): value is { stringValue: string } =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof value['stringValue'] === 'string' &&
  Object.keys(value).length === 1
