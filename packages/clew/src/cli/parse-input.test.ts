import { expect, it } from 'vitest'
import { events } from '../operations/events.ts'
import { fork } from '../operations/fork.ts'
import { resume } from '../operations/resume.ts'
import { runs } from '../operations/runs.ts'
import { parseInput } from './parse-input.ts'

const field = (name: string, value: string) => [{ field: name, name: `--${name}`, value }]

it('reads words as what the schema takes', () => {
  expect(parseInput(runs, field('limit', '5'))).toEqual({ limit: 5 })
  expect(parseInput(runs, field('agent', '5'))).toEqual({ agent: '5', limit: 20 })
  expect(parseInput(events, [...field('runId', '12'), ...field('types', 'ui.a, ui.b')])).toEqual({
    runId: '12',
    types: ['ui.a', 'ui.b'],
  })
})

it('reads what may be anything as JSON, else as text', () => {
  const answer = (text: string) =>
    (parseInput(resume, [...field('runId', 'r'), ...field('answer', text)]) as { answer: unknown }).answer
  expect(['5', '007', 'yes', 'true', '"5"', '{"a":[1]}', '{a', '', 'a,b'].map(answer)).toEqual([
    5,
    '007',
    'yes',
    true,
    '5',
    { a: [1] },
    '{a',
    '',
    'a,b',
  ])
})

it('reads an object as JSON, and a place as what it is', () => {
  const at = (text: string) => parseInput(fork, [...field('runId', 'r'), ...field('at', text)])
  expect([at('3'), at('search'), at('seq:12'), at('think@s3')]).toEqual([
    { runId: 'r', at: 3 },
    { runId: 'r', at: 'search' },
    { runId: 'r', at: 'seq:12' },
    { runId: 'r', at: 'think@s3' },
  ])
  const state = (text: string) => parseInput(fork, [...field('runId', 'r'), ...field('state', text)])
  expect(state('{"turns":1}')).toEqual({ runId: 'r', state: { turns: 1 } })
  expect(() => state('turns=1')).toThrow(/"turns=1" of --state .* JSON object/)
})

it('refuses a value with the option, what it takes, and what was probably meant', () => {
  expect(() => parseInput(runs, field('limit', 'many'))).toThrow(/"many" of --limit .* 1 to 1000/)
  expect(() => parseInput(runs, field('limit', '0'))).toThrow(/--limit/)
  expect(() => parseInput(runs, field('status', 'complete'))).toThrow(/Did you mean completed\?/)
})
