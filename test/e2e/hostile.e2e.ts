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

  it('U2 ten thousand levels: refused as JSON with one clear error, shown as text, and the page goes on', async () => {
    const deep = `${'{"in":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    const page = await house.open('/runs/hostile-deep', {})
    await page.getByRole('alert').filter({ hasText: 'There is no run' }).waitFor()
    const post = (payload: string): Promise<{ status: number; text: string }> =>
      page.evaluate(async (given) => {
        const body = `{"event_type":"execution.message","correlation_id":"hostile-deep","payload":${given}}`
        const answer = await fetch('/v1/events', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
        return { status: answer.status, text: await answer.text() }
      }, payload)
    const refused = await post(`{"content":${deep}}`)
    expect(refused.status).toBe(400)
    expect(JSON.parse(refused.text)).toMatchObject({ error: { message: expect.stringMatching(/deep|512/) } })
    const text = JSON.stringify(deep)
    expect((await post(`{"role":"assistant","content":${text},"toolCallId":"x"}`)).status).toBe(200)
    expect((await post(`{"role":"assistant","content":{"json":${text}}}`)).status).toBe(200)
    await page.reload()
    await page.getByText('{"in":{"in":').first().waitFor()
    for (const tab of ['Timeline', 'Events', 'Transcript']) await page.getByRole('tab', { name: tab }).click()
    await page.getByRole('article').last().getByRole('button').first().click()
    await page.getByRole('complementary').getByText('payload').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary').waitFor({ state: 'detached' })
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
