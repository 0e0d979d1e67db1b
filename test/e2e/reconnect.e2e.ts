import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'
import { watchedOf, watchRows } from './watch.ts'

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

    await watchRows(page)
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
    // No flash: every row is the very element that it was.
    expect(await watchedOf(page)).toMatchObject({ removed: [], lost: 0 })
  })

  it('T3 a step whose end is told before its start is shown once, completed, and never goes back', async () => {
    await send('order-1', 'system.workflow_started', { agent: 'courier', input: 'carry' })
    const page = await house.open('/runs/order-1?tab=timeline')
    await page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor()
    await send('order-1', 'execution.step_completed', {
      stepId: 'carry',
      name: 'carry',
      kind: 'tool',
      output: 'there',
    })
    const step = page.getByRole('treeitem', { name: /carry/ })
    await step.waitFor()
    await send('order-1', 'execution.step_started', { stepId: 'carry', name: 'carry', kind: 'tool' })
    await send('order-1', 'execution.step_started', { stepId: 'next', name: 'next', kind: 'tool' })
    await page.getByRole('treeitem', { name: /next/ }).waitFor()
    expect(await step.count()).toBe(1)
    await step.click()
    await page.getByRole('complementary').getByText('completed').first().waitFor()
    await page.reload()
    await page.getByRole('treeitem', { name: /next/ }).waitFor()
    expect(await step.count()).toBe(1)
    await page.getByRole('complementary').getByText('completed').first().waitFor()
  })
})

const send = async (correlation_id: string, event_type: string, payload: object): Promise<void> => {
  const answer = await fetch(`${house.url}/v1/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([{ event_type, correlation_id, payload }]),
  })
  expect([answer.status, await answer.text()]).toEqual([expect.toBeOneOf([200, 201]), expect.any(String)])
}
