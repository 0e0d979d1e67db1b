import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'

let house: House
beforeAll(async () => {
  house = await openHouse()
})
afterAll(() => house.close())

const started = (runId: string) => ({
  eventType: 'system.workflow_started' as const,
  correlationId: runId,
  payload: { agent: 'newcomer', input: { question: 'Is anybody there?' } },
})

describe('U1 the list of runs', () => {
  it('U1 shows runs with what they were asked, and changes rows in place', async () => {
    const page = await house.open('/runs')
    const row = page.getByRole('row').filter({ hasText: 'Read all of example.org' })
    await row.getByText('running').waitFor()
    const names = async (): Promise<string[]> =>
      (await page.getByRole('row').getByRole('link').allTextContents()).slice(0, 5)
    const before = await names()
    await house.ledger.record({
      eventType: 'system.workflow_completed',
      correlationId: 'crawler-live',
      payload: { output: 'all read' },
    })
    await row.getByText('completed').waitFor()
    expect(await names()).toEqual(before)
  })

  it('U1 keeps new runs behind a bar until they are asked for', async () => {
    const page = await house.open('/runs')
    await page.getByRole('link', { name: /field-notes-7/ }).waitFor()
    await house.ledger.record(started('newcomer-1'))
    const bar = page.getByRole('button', { name: '1 new' })
    await bar.waitFor()
    expect(await page.getByRole('link', { name: /newcomer-1/ }).count()).toBe(0)
    await bar.click()
    await page.getByRole('link', { name: /newcomer-1/ }).waitFor()
    expect(await bar.count()).toBe(0)
  })

  it('U2 filters by what is typed, keeps it in the address, and goes back and forward', async () => {
    const page = await house.open('/runs')
    await page.getByRole('link', { name: /field-notes-7/ }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('status:fai')
    await page.getByRole('option', { name: 'status:failed' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: /field-notes-7/ }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: /flaky-12/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('status:failed')
    await page.goBack()
    await page.getByRole('link', { name: /field-notes-7/ }).waitFor()
    await page.goForward()
    await page.getByRole('link', { name: /field-notes-7/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove status:failed' }).click()
    await page.getByRole('link', { name: /field-notes-7/ }).waitFor()
    expect(new URL(page.url()).search).toBe('')
  })

  it('U1 finds runs by any words in them', async () => {
    const page = await house.open('/runs?q=burrowing')
    await page.getByRole('link', { name: /field-notes-7/ }).waitFor()
    expect(await page.getByRole('link', { name: /flaky-12/ }).count()).toBe(0)
  })

  it('U1 says what is wrong with a filter, where it is', async () => {
    const page = await house.open('/runs?q=stauts:failed')
    await page.getByRole('alert').filter({ hasText: 'stauts' }).waitFor()
    await page.goto(`${house.url}/runs?q=status:bogus`)
    await page.getByRole('alert').filter({ hasText: 'completed, failed' }).waitFor()
  })

  it('U1 selects two with the keyboard and compares them', async () => {
    const page = await house.open('/runs?q=agent:support')
    await page.getByRole('link', { name: /archive-003/ }).waitFor()
    for (const key of ['x', 'j', 'x', 'c']) await page.keyboard.press(key)
    await page.waitForURL(/\/compare\?a=archive/)
    await page.getByText(/^They part at|^Both went the same way|^Only words differ/).waitFor()
    await page.getByRole('checkbox', { name: 'show what is the same' }).check()
    await page.getByRole('listitem').filter({ hasText: 'work#2' }).first().waitFor()
  })
})
