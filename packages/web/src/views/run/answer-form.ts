import type { EntryOf } from '@clew/ledger'

/** How a question wants to be answered. */
export type AnswerForm =
  | { readonly kind: 'options'; readonly options: readonly AnswerOption[] }
  | { readonly kind: 'text' }
  | { readonly kind: 'json'; readonly about: string }

export interface AnswerOption {
  readonly label: string
  /** As it would be typed: text as it is, other values as JSON. */
  readonly text: string
  readonly value: unknown
}

type Asked = Pick<EntryOf<'question'>, 'question' | 'options'> & {
  /** As it was recorded beside the question. */
  readonly schema?: unknown
}
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** From the options that were given with it, or from a JSON schema, in or beside the question. */
export function answerForm({ question, options, schema: beside }: Asked): AnswerForm {
  const inside = isObject(question) ? question : {}
  const given = [options, inside['options'], inside['choices']].find(
    (each) => Array.isArray(each) && each.length > 0,
  )
  if (Array.isArray(given)) return { kind: 'options', options: given.map(toOption) }
  const schema = [beside, inside['schema']].find(isObject)
  if (!schema) return { kind: 'text' }
  const values = schema['enum']
  if (Array.isArray(values)) return { kind: 'options', options: values.map(toOption) }
  if (schema['type'] === 'boolean') return { kind: 'options', options: [toOption(true), toOption(false)] }
  if (schema['type'] === 'string') return { kind: 'text' }
  const keys = isObject(schema['properties']) ? Object.keys(schema['properties']) : []
  return { kind: 'json', about: keys.join(', ') }
}

function toOption(option: unknown): AnswerOption {
  const value: unknown = isObject(option) && 'value' in option ? option['value'] : option
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const label = isObject(option) && typeof option['label'] === 'string' ? option['label'] : text
  return { label: value === true ? 'yes' : value === false ? 'no' : label, text, value }
}

export function parseAnswer(
  form: AnswerForm,
  draft: string,
): { readonly value: unknown } | { readonly problem: string } {
  if (form.kind === 'options') {
    const option = form.options.find(({ text }) => text === draft)
    return option ? { value: option.value } : { problem: 'Choose an option.' }
  }
  if (form.kind === 'text') return draft.trim() === '' ? { problem: 'Write an answer.' } : { value: draft }
  try {
    return { value: JSON.parse(draft) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' }
  }
}
