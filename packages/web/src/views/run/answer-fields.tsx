import type { ReactElement } from 'react'
import type { AnswerField, AnswerForm } from './answer-form.ts'

interface AnswerFieldsProps {
  readonly form: AnswerForm
  readonly draft: string | undefined
  readonly onDraft: (draft: string) => void
}

/** Inputs of an answer: one text, a form made from a schema, or JSON. */
export function AnswerFields({ form, draft, onDraft }: AnswerFieldsProps): ReactElement | null {
  if (form.kind === 'options') return null
  if (form.kind === 'text')
    return (
      <label className="field">
        <span>Answer</span>
        <input value={draft ?? ''} onChange={(event) => onDraft(event.target.value)} />
      </label>
    )
  if (form.kind === 'json')
    return (
      <label className="field">
        <span>Answer as JSON</span>
        <textarea value={draft ?? ''} spellCheck={false} onChange={(event) => onDraft(event.target.value)} />
      </label>
    )
  const values = (draft === undefined ? {} : JSON.parse(draft)) as Readonly<Record<string, unknown>>
  const set = (name: string, value: unknown): void => onDraft(JSON.stringify({ ...values, [name]: value }))
  return (
    <>
      {form.fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          value={values[field.name]}
          onValue={(value) => set(field.name, value)}
        />
      ))}
    </>
  )
}

interface OneFieldProps {
  readonly field: AnswerField
  readonly value: unknown
  readonly onValue: (value: unknown) => void
}

function OneField({ field, value, onValue }: OneFieldProps): ReactElement {
  const { name, type, about, choices, isRequired } = field
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  const label = (
    <span>
      {name}
      {isRequired ? '' : ' (optional)'}
      {about === null ? '' : `: ${about}`}
    </span>
  )
  if (choices !== null)
    return (
      <label className="field">
        {label}
        <select
          value={text}
          onChange={(event) => onValue(choices.find((c) => String(c) === event.target.value))}
        >
          <option value="" disabled={isRequired}>
            …
          </option>
          {choices.map((choice) => (
            <option key={String(choice)}>{String(choice)}</option>
          ))}
        </select>
      </label>
    )
  if (type === 'boolean')
    return (
      <label className="field-check">
        <input type="checkbox" checked={value === true} onChange={(event) => onValue(event.target.checked)} />
        {label}
      </label>
    )
  const isNumber = type === 'number' || type === 'integer'
  const read = (typed: string): unknown => (typed === '' ? undefined : isNumber ? Number(typed) : typed)
  return (
    <label className="field">
      {label}
      <input
        type={isNumber ? 'number' : 'text'}
        {...(type === 'number' && { step: 'any' })}
        value={text}
        onChange={(event) => onValue(read(event.target.value))}
      />
    </label>
  )
}
