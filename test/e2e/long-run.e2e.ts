import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'
import { longRun } from './scenes.ts'

const STEPS = 12_000

let house: House
beforeAll(async () => {
  house = await openHouse((ledger) => longRun(ledger, 'long', STEPS, Date.now() - 60_000))
})
afterAll(() => house.close())

describe('U3 a run of very many steps', () => {
  it('U3 has all of them in the timeline, draws those in sight, and comes to the last', async () => {
    const page = await house.open('/runs/long?tab=timeline')
    await page.getByText(`${STEPS.toLocaleString('en')} steps ·`).waitFor()
    const rows = page.getByRole('treeitem')
    expect(await rows.count()).toBeLessThan(120)
    // The last of them failed.
    await page.keyboard.press('Shift+E')
    await page.getByRole('treeitem', { selected: true }).waitFor()
    await page.getByRole('complementary').getByText('the very last one').waitFor()
    expect(new URL(page.url()).searchParams.get('step')).toBe(`work#${STEPS - 1}`)
    await page.getByRole('button', { name: 'Fold all' }).or(page.getByText('fold all')).click()
    expect(await rows.count()).toBeLessThan(120)
  })

  it('U3 every event can be gone to, without reading those before it', async () => {
    const page = await house.open(`/runs/long?tab=events&event=${STEPS}`)
    await page
      .getByRole('listitem')
      .filter({ hasText: STEPS.toLocaleString('en').replace(',', '') })
      .first()
      .waitFor()
    expect(await page.getByRole('listitem').count()).toBeLessThan(120)
  })

  it('U3 the transcript gathers what follows each other, and loses nothing', async () => {
    const page = await house.open('/runs/long')
    await page.getByText(`×${(STEPS - 1).toLocaleString('en')}`).waitFor()
  })
})
