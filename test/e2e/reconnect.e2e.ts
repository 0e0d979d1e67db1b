import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'

let house: House
beforeAll(async () => {
  house = await openHouse()
})
afterAll(() => house.close())

const say = (content: string) =>
  house.ledger.record({
    eventType: 'execution.message',
    correlationId: 'crawler-live',
    payload: { role: 'assistant', content },
  })

describe('L7 live', () => {
  it('L7 two tabs see what happens; a server that dies and comes back leaves no gap, no repeat and no empty page', async () => {
    const [page, other] = await Promise.all([
      house.open('/runs/crawler-live'),
      house.open('/runs/crawler-live'),
    ])
    await Promise.all([page, other].map((each) => each.getByText('visit').first().waitFor()))
    await say('first page read')
    await Promise.all([page, other].map((each) => each.getByText('first page read').waitFor()))

    await house.killServer()
    await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
    await page.getByText('first page read').waitFor()
    await say('read while nobody served')
    await house.startServer()
    await page.getByText('read while nobody served').waitFor()
    await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor({ state: 'detached' })
    await say('and on it goes')
    await Promise.all([page, other].map((each) => each.getByText('and on it goes').waitFor()))
    for (const text of ['first page read', 'read while nobody served', 'and on it goes'])
      expect([text, await page.getByText(text).count()]).toEqual([text, 1])
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})
