import { expect, it } from 'vitest'
import { events } from '../operations/events.ts'
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

it('refuses a value with the option, what it takes, and what was probably meant', () => {
  expect(() => parseInput(runs, field('limit', 'many'))).toThrow(/"many" of --limit .* 1 to 1000/)
  expect(() => parseInput(runs, field('limit', '0'))).toThrow(/--limit/)
  expect(() => parseInput(runs, field('status', 'complete'))).toThrow(/Did you mean completed\?/)
})
