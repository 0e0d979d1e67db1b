import { expect, it } from 'vitest'
import { distance, nearMisses } from './near-miss.ts'

it('counts edits, a swap of neighbours as one', () => {
  expect([
    distance('runs', 'runs'),
    distance('rnus', 'runs'),
    distance('run', 'runs'),
    distance('', 'abc'),
  ]).toEqual([0, 1, 1, 3])
})

it('suggests what was probably meant, nearest first, and nothing far away', () => {
  expect(nearMisses('complete', ['completed', 'failed', 'deleted'])).toEqual(['completed'])
  expect(nearMisses('demo-5b5b1x', ['demo-5b5b19', 'demo-5b5b19-writer', 'other'])).toEqual([
    'demo-5b5b19',
    'demo-5b5b19-writer',
  ])
  expect(nearMisses('xyz', ['completed', 'failed'])).toEqual([])
})
