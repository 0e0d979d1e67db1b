import { hash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createIds, deriveId, isUuid } from './ids.ts'

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
})
