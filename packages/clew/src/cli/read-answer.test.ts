import { expect, it } from 'vitest'
import { questionLines, readQuestion, shellWord } from './question.ts'
import { chooseAnswer, fitAnswer } from './read-answer.ts'
import { createColours } from './colour.ts'

const open = { options: [], schema: null }

it.each([
  ['yes', ['yes', 'no'], 'yes'],
  ['2', ['yes', 'no'], 'no'],
  ['2', [1, 2, 3], 2],
  ['1', ['2', '1'], '1'],
  ['true', [true, false], true],
  ['3', ['yes', 'no'], 3],
  ['{"a":1}', [], { a: 1 }],
  ['go ahead', [], 'go ahead'],
  ['007', [], '007'],
])('R6 a person types %o and is offered %o', (said, options, answer) => {
  expect(chooseAnswer({ options, schema: null }, said)).toEqual(answer)
})

it('R6 --answer 5 is a number, unless text is asked for', () => {
  expect(fitAnswer(open, 5)).toBe(5)
  expect(fitAnswer({ options: ['5', '6'], schema: null }, 5)).toBe('5')
  expect(fitAnswer({ options: ['5', 5], schema: null }, 5)).toBe(5)
  expect(fitAnswer({ options: [], schema: { type: 'string' } }, true)).toBe('true')
  expect(fitAnswer({ options: [], schema: { type: 'string' } }, { a: 1 })).toEqual({ a: 1 })
})

const lines = (question: unknown, more: { pauseId: string; stepId: null; question: unknown }[] = []) =>
  questionLines(
    {
      output: { colour: createColours(false), isTerminal: false, stream: process.stdout },
      width: 100,
      next: (command) => command,
    },
    { runId: 'r 1', dueAt: null, pauses: [{ pauseId: 'p1', stepId: null, question }, ...more] },
  ).join('\n')

it('R6 a question is shown with the line that answers it, quoted for a shell', () => {
  expect(lines('Publish?')).toContain("Publish?\n    clew resume 'r 1' --answer …")
  expect(lines({ question: 'Which?', options: ['the first', 'b'] })).toContain("--answer 'the first'")
  expect(lines({ question: 'Which?', options: ['1', '2'] })).toContain(`--answer '"1"'`)
  expect(lines({ question: 'Which?', options: [{ a: 1 }] })).toContain(`--answer '{"a":1}'`)
  expect(lines({ question: 'Go on with x?', interrupt: 'before' })).toContain("resume 'r 1' --agent MODULE")
  expect(lines('a?', [{ pauseId: 'p2', stepId: null, question: 'b?' }])).toMatch(
    /--pause p1 .*[^]*--pause p2 /,
  )
})

it('reads whatever was recorded as a question', () => {
  for (const question of [null, 5, ['a'], { text: 'x' }, { question: 7, options: 'none' }])
    expect(readQuestion({ pauseId: 'p', stepId: null, question })).toMatchObject({
      options: [],
      isGate: false,
    })
})

it('quotes for a shell what a shell would read otherwise', () => {
  expect(shellWord('trip-12/a#0')).toBe("'trip-12/a#0'")
  expect(shellWord("it's")).toBe(String.raw`'it'\''s'`)
  expect(shellWord('trip-12.i3@s1')).toBe('trip-12.i3@s1')
})
