import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importDeskChats } from './desk-chats.ts'
import { type House, openHouse } from './house.ts'

let house: House
beforeAll(async () => {
  house = await openHouse(async (_, store, folder) => {
    await importDeskChats(store, folder, 3)
  })
})
afterAll(() => house.close())

describe('U1 a run in hand', () => {
  for (const width of [390, 1440])
    it(`U1 takes thumbs, scores and notes, on runs and steps, and finds runs by them, ${width} px wide`, async () => {
      const runId = width === 390 ? 'desk-2' : 'desk-3'
      const page = await house.open(`/runs/${runId}`, { viewport: { width, height: 860 } })
      await page.getByRole('button', { name: 'Good', exact: true }).click()
      await page.getByRole('button', { name: 'Good', exact: true, pressed: true }).waitFor()
      await page.getByRole('button', { name: 'Score or note…' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill(`correct${width}`)
      await page.getByRole('textbox', { name: 'Number, label or note' }).fill('0.5')
      await page.getByRole('textbox', { name: 'Why' }).fill('the second boat was full')
      await page.getByRole('button', { name: 'Keep' }).click()
      await page.getByText(`correct${width} 0.5`).waitFor()
      await page.goto(`${house.url}/runs?q=score:correct${width}<1`)
      await page.getByRole('link', { name: `Open harbour ${runId}` }).waitFor()
      expect(await page.getByRole('link', { name: /^Open / }).count()).toBe(1)
      const { scores } = (await house.ledger.getRun(runId)) ?? { scores: [] }
      expect(scores).toMatchObject([
        { name: 'good', value: true, by: 'page' },
        { name: `correct${width}`, value: 0.5, why: 'the second boat was full' },
      ])
    })

  it('U1 sorts runs by a column, and sums up those that are selected', async () => {
    const page = await house.open('/runs?q=agent:harbour', { viewport: { width: 1440, height: 860 } })
    await page.getByRole('button', { name: /^Steps/ }).click()
    await page.waitForURL(/sort%3A-steps/)
    await page
      .getByRole('columnheader', { name: 'Steps' })
      .and(page.locator('[aria-sort="descending"]'))
      .waitFor()
    const first = page.getByRole('link', { name: /^Open harbour/ }).first()
    await expect.poll(() => first.getAttribute('aria-label')).toBe('Open harbour desk-3')
    await page.getByRole('button', { name: /^Steps/ }).click()
    await expect.poll(() => first.getAttribute('aria-label')).toBe('Open harbour desk-1')
    for (const runId of ['desk-1', 'desk-2'])
      await page.getByRole('checkbox', { name: `Select ${runId}` }).click()
    const [a, b] = await Promise.all(['desk-1', 'desk-2'].map((runId) => house.ledger.getRun(runId)))
    await page.getByText(`${(a?.steps ?? 0) + (b?.steps ?? 0)} steps · 0 tok · – · –`).waitFor()
  })

  it('U1 plays a run from its beginning, with the address at each instant', async () => {
    const page = await house.open('/runs/triage-31?tab=state')
    await page.getByRole('slider', { name: 'Superstep' }).waitFor()
    await page.getByRole('button', { name: 'Speed: 1 times' }).click()
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.waitForURL(/[?&]at=\d/)
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.waitForURL((url) => !url.searchParams.has('at'))
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
  })

  it('U1 tells nothing where nothing was said, and no time where none was recorded', async () => {
    const page = await house.open('/runs/desk-1')
    await page.getByRole('article').filter({ hasText: 'find_boat' }).first().waitFor()
    const told = await page.getByRole('article').allInnerTexts()
    expect(told.filter((text) => /^Agent\s+null$/.test(text))).toEqual([])
    expect(told.filter((text) => text.includes('0 ms'))).toEqual([])
    // Clicking anywhere on an entry opens it.
    await page.getByRole('article').filter({ hasText: 'Shall I book' }).first().getByText('Found:').click()
    await page.getByRole('complementary', { name: 'Selection' }).waitFor()
  })
})
