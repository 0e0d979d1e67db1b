import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KILL_POINTS } from './kill-points.ts'
import { type KillSession, startKills } from './kill-rounds.ts'

describe('R5 R10 an agent whose process is killed with SIGKILL', () => {
  let session: KillSession
  beforeAll(() => {
    session = startKills()
  })
  afterAll(() => session.close())

  it.each(KILL_POINTS)(
    'goes on in another process: no completed step twice, none lost, each write once: %s',
    async (point) => {
      const { isKilled, violations } = await session.round(point, 1)
      expect([isKilled, violations]).toEqual([true, []])
    },
  )

  it.each(['after-commit', 'before-commit', 'during-take-over'] as const)(
    'goes on however often it is killed, in the middle of the run: %s',
    async (point) => {
      const { isKilled, violations } = await session.round(point, point === 'during-take-over' ? 1 : 5, 3)
      expect([isKilled, violations]).toEqual([true, []])
    },
  )

  it('and the oracle goes red when a write is not reserved before it is dispatched', async () => {
    process.env['CLEW_PLANT'] = 'no-reservation'
    try {
      // The fourth effect is the first write.
      const { violations } = await session.round('after-effect', 4)
      expect(violations).toContainEqual(expect.stringMatching(/^R10 the write .* was done twice/))
    } finally {
      delete process.env['CLEW_PLANT']
    }
  })
})
