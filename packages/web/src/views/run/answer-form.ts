import type { EntryOf } from '@clew/ledger'

/** How a question wants to be answered. */
export type AnswerForm =
  | { readonly kind: 'options'; readonly options: readonly AnswerOption[] }
  | { readonly kind: 'text' }
  | { readonly kind: 'fields'; readonly fields: readonly AnswerField[] }
  | { readonly kind: 'json' }

/** A property of a schema that a form can ask for. */
export interface AnswerField {
  readonly name: string
  readonly type: 'string' | 'number' | 'integer' | 'boolean'
  readonly about: string | null
  readonly choices: readonly unknown[] | null
  readonly isRequired: boolean
}

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
  const fields = fieldsOf(schema)
  return fields ? { kind: 'fields', fields } : { kind: 'json' }
}

const FIELD_TYPES = ['string', 'number', 'integer', 'boolean'] as const

/** Undefined if a property is nested or of an unknown type: such an answer is written as JSON. */
function fieldsOf({ properties, required }: Readonly<Record<string, unknown>>): AnswerField[] | undefined {
  if (!isObject(properties) || Object.keys(properties).length === 0) return undefined
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name)
  const fields = Object.entries(properties).map(([name, property]) => {
    const { type, enum: choices, title, description } = isObject(property) ? property : {}
    const known = FIELD_TYPES.find((each) => each === type) ?? (Array.isArray(choices) ? 'string' : undefined)
    if (known === undefined) return undefined
    const about = typeof description === 'string' ? description : typeof title === 'string' ? title : null
    return {
      name,
      type: known,
      about,
      choices: Array.isArray(choices) ? choices : null,
      isRequired: isRequired(name),
    }
  })
  return fields.every((field) => field !== undefined) ? fields : undefined
}

const WORDS: Readonly<Record<string, string>> = {
  true: 'Yes',
  false: 'No',
  yes: 'Yes',
  no: 'No',
  approve: 'Yes',
  deny: 'No',
  perform: 'Do it',
  abort: 'Do not',
}

/** The usual words for yes and no are one word on every card; others stay as they were recorded. */
export function labelOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return WORDS[text] ?? text
}

function toOption(option: unknown): AnswerOption {
  const value: unknown = isObject(option) && 'value' in option ? option['value'] : option
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const label = isObject(option) && typeof option['label'] === 'string' ? option['label'] : labelOf(value)
  return { label, text, value }
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
  if (form.kind === 'fields') {
    const given = JSON.parse(draft) as Readonly<Record<string, unknown>>
    const missing = form.fields.find(
      ({ name, type, isRequired }) => isRequired && type !== 'boolean' && given[name] === undefined,
    )
    if (missing) return { problem: `${missing.name} is missing.` }
    const unticked = form.fields.filter(({ type, isRequired }) => isRequired && type === 'boolean')
    return { value: { ...Object.fromEntries(unticked.map(({ name }) => [name, false])), ...given } }
  }
  try {
    return { value: JSON.parse(draft) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' }
  }
}
