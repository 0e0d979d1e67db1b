import { hash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createDeriver, createIds, deriveId, isUuid } from './ids.ts'

const sha256 = (text: string): string => hash('sha256', text)
const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex')

describe('ids', () => {
  it('L4 rise strictly, also when the clock stands still or goes back', () => {
    const clock = [1_000_000, 1_000_000, 999_000, 500, 1_000_001]
    let at = 0
    const next = createIds({ now: () => clock[Math.min(at++ >> 11, 4)] as number, randomHex })
    let last = ''
    for (let i = 0; i < 20_000; i++) {
      const id = next()
      expect(id > last && isUuid(id) && id[14] === '7' && '89ab'.includes(id[19] as string)).toBe(true)
      last = id
    }
  })

  it('L4 derived ids are the same for the same parts and lie with their run', () => {
    const run = '0198f0aa-1234-7000-8000-000000000001'
    const id = deriveId(sha256, run, 'step', 1)
    expect(id).toBe(deriveId(sha256, run, 'step', 1))
    expect(id).not.toBe(deriveId(sha256, run, 'step', 2))
    expect(id).not.toBe(deriveId(sha256, run, 'step1'))
    expect(isUuid(id) && id.startsWith('0198f0aa-1234-8')).toBe(true)
    expect(deriveId(sha256, 'run-1', 'a').slice(0, 13)).toBe(deriveId(sha256, 'run-1', 'b').slice(0, 13))
  })
  it('L4 derived ids are for ever: the same by any way, and as written down here', () => {
    for (const runId of ['run "1"\\', '0198f0aa-1234-7000-8000-000000000001', ''])
      for (const parts of [[], ['a'], ['execution.step_started', 'think', 1], ['"', '\n', 0.5]]) {
        const own = sha256(JSON.stringify([runId, ...parts]))
        const id = createDeriver(sha256, runId)(...parts)
        expect(id).toBe(deriveId(sha256, runId, ...parts))
        expect(id.slice(13)).toBe(`-8${own.slice(0, 3)}-8${own.slice(3, 6)}-${own.slice(6, 18)}`)
      }
    expect(deriveId(sha256, 'run-1', 'step', 1)).toBe('4e65d3fb-e8ad-88d2-8d46-b9172402b06d')
    expect(deriveId(sha256, 'run-1', 'step', 'think@s18', 1)).toBe('4e65d3fb-e8ad-8012-81eb-244d8e754789')
  })

  it('L4 derived ids of one step lie together, and after those of the step before', () => {
    const derive = createDeriver(sha256, 'run-1')
    const types = ['execution.step_started', 'execution.step_completed']
    for (const form of [(n: number) => `think@s${n}`, (n: number) => `plan#${n}/search#0`]) {
      const ids = Array.from({ length: 300 }, (_, n) => types.map((type) => derive(type, form(n), 1)))
      expect(ids.flat().toSorted()).toEqual(ids.flatMap((pair) => pair.toSorted()))
      expect(new Set(ids.flat()).size).toBe(600)
    }
  })
})
