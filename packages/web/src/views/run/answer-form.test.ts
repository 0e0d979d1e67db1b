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
      options: [{ label: 'yes' }, { label: 'no' }, { label: 'Later', text: '{"inDays":2}' }],
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
        { label: 'yes', value: true },
        { label: 'no', value: false },
      ],
    })
    expect(asked({ type: 'string' })).toEqual({ kind: 'text' })
    const form = asked({ type: 'object', properties: { seats: {}, day: {} } })
    expect(form).toEqual({ kind: 'json', about: 'seats, day' })
    expect(parseAnswer(form, '{"seats":2}')).toEqual({ value: { seats: 2 } })
    expect(parseAnswer(form, '{"seats":')).toHaveProperty('problem')
  })
})
