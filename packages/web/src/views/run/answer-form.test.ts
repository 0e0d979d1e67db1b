import { describe, expect, it } from 'vitest'
import { answerForm, parseAnswer } from './answer-form.ts'

describe('the form of an answer', () => {
  it('R6 offers the options that came with the question', () => {
    const form = answerForm({
      question: 'Publish?',
      options: ['yes', 'no', { label: 'Later', value: { inDays: 2 } }],
    })
    expect(form).toMatchObject({
      kind: 'options',
      options: [{ label: 'Yes' }, { label: 'No' }, { label: 'Later', text: '{"inDays":2}' }],
    })
    expect(parseAnswer(form, '{"inDays":2}')).toEqual({ value: { inDays: 2 } })
    expect(parseAnswer(form, 'maybe')).toHaveProperty('problem')
  })

  it('R6 reads a schema: choices, yes or no, text, anything else as JSON', () => {
    const asked = (schema: object): ReturnType<typeof answerForm> =>
      answerForm({ question: { text: '?', schema }, options: null })
    expect(asked({ enum: [1, 2] })).toMatchObject({ kind: 'options', options: [{ value: 1 }, { value: 2 }] })
    expect(asked({ type: 'boolean' })).toMatchObject({
      options: [
        { label: 'Yes', value: true },
        { label: 'No', value: false },
      ],
    })
    expect(asked({ type: 'string' })).toEqual({ kind: 'text' })
    const form = asked({ type: 'object', properties: { seats: {}, day: {} } })
    expect(form).toEqual({ kind: 'json' })
    expect(parseAnswer(form, '{"seats":2}')).toEqual({ value: { seats: 2 } })
    expect(parseAnswer(form, '{"seats":')).toHaveProperty('problem')
  })

  it('R6 makes a form of a flat schema', () => {
    const schema = {
      properties: {
        seats: { type: 'integer', description: 'how many' },
        class: { enum: ['deck', 'cabin'] },
        dog: { type: 'boolean' },
      },
      required: ['seats', 'dog'],
    }
    const form = answerForm({ question: '?', options: null, schema })
    expect(form).toMatchObject({
      kind: 'fields',
      fields: [
        { name: 'seats', type: 'integer', about: 'how many', isRequired: true },
        { name: 'class', choices: ['deck', 'cabin'], isRequired: false },
        { name: 'dog', type: 'boolean' },
      ],
    })
    expect(parseAnswer(form, '{"class":"deck"}')).toEqual({ problem: 'seats is missing.' })
    expect(parseAnswer(form, '{"seats":2}')).toEqual({ value: { dog: false, seats: 2 } })
  })
})
