import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'
import { hostile } from './scenes.ts'

let house: House
beforeAll(async () => {
  house = await openHouse((ledger) => hostile(ledger, 'hostile', Date.now()))
})
afterAll(() => house.close())

describe('U2 what agents write', () => {
  it('U2 neither runs nor leads anywhere, and is shown as it is', async () => {
    const page = await house.open('/runs')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).origin))
    await page.getByRole('row').filter({ hasText: '<script>' }).first().waitFor()
    await page.goto(`${house.url}/runs/hostile`)
    await page.getByText('<script>globalThis.hacked').first().waitFor()
    const link = page.getByText('click', { exact: true })
    await link.waitFor()
    expect(await link.getAttribute('href')).not.toMatch(/^javascript/)
    await page
      .getByText(/show 50\.0 KB more of 5\.0 MB/)
      .first()
      .waitFor()
    for (const tab of ['Timeline', 'Graph', 'Events', 'Run log'])
      await page.getByRole('tab', { name: tab }).click()
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
    expect(asked.filter((origin) => origin !== house.url)).toEqual([])
  })

  it('U2 a value as deep as a ledger takes opens level by level', async () => {
    const page = await house.open('/runs/hostile?tab=events&event=7')
    const side = page.getByRole('complementary')
    const branch = side.getByRole('button', { expanded: false })
    for (let level = 0; level < 4; level++) await branch.last().click()
    expect(await side.getByRole('button', { expanded: true }).count()).toBe(4)
    await side.getByText('in', { exact: true }).nth(2).waitFor()
  })

  it('U2 five megabytes and five thousand keys come in pieces', async () => {
    const page = await house.open('/runs/hostile?tab=events&event=8')
    const side = page.getByRole('complementary')
    await side.getByRole('button', { name: /^result/ }).click()
    await side.getByText(/more of 5\.0 MB/).waitFor()
    await side.getByRole('button', { name: /^wide/ }).click()
    await side.getByRole('button', { name: '4,900 more' }).waitFor()
  })
})
