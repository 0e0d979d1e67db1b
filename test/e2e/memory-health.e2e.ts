import { agent } from 'clew'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'

const host = agent('host', async (run) => {
  await run.memory.put({
    layer: 'long',
    scope: 'user:ann',
    namespace: 'facts/people',
    key: 'ann',
    value: { likes: 'green tea' },
    tags: ['person'],
    subjects: ['ann'],
  })
})

let house: House
beforeAll(async () => {
  house = await openHouse(async (ledger) => {
    await host.start(ledger, {}, { runId: 'host-1' })
    const mood = { namespace: 'notes', key: 'mood', value: 'curious about owls' }
    await ledger.memory.put({ layer: 'session', scope: 'chat-1', ...mood, ttlMs: 3_600_000 })
  })
})
afterAll(() => house.close())

describe('U1 memory and health', () => {
  it('M1 shows what is remembered by layer, how long it stays, and the run that wrote it', async () => {
    const page = await house.open('/memory')
    const ann = page.getByRole('button', { name: /facts\/people\/ann/ })
    const mood = page.getByRole('button', { name: /notes\/mood/ })
    await ann.getByText('stays').waitFor()
    await mood.getByText(/^until \d{4}-/).waitFor()
    await page.getByRole('radio', { name: 'long' }).click()
    await mood.waitFor({ state: 'detached' })
    await page.getByText('clew memory list --layer long').waitFor()
    await ann.click()
    await page.getByText('green tea').waitFor()
    await page.getByText(/version 1 · about ann/).waitFor()
    await page.getByRole('link', { name: 'host-1' }).click()
    await page.waitForURL(/\/runs\/host-1/)
    await page.goBack()
    await ann.waitFor()
    expect(new URL(page.url()).searchParams.get('layer')).toBe('long')
  })

  it('M1 finds what is remembered by its words', async () => {
    const page = await house.open('/memory')
    await page.getByRole('button', { name: /notes\/mood/ }).waitFor()
    await page.keyboard.press('/')
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('owls')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /facts\/people\/ann/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /notes\/mood/ }).waitFor()
    await page.goto(`${house.url}/memory?q=submarine`)
    await page.getByText('Nothing that is remembered fits').waitFor()
  })

  it('L6 verifies on demand, and shows what is recorded now', async () => {
    const page = await house.open('/health')
    await page.getByRole('button', { name: 'Verify the ledger' }).click()
    await page
      .getByRole('status')
      .filter({ hasText: /[\d,]+ events checked, nothing was changed\./ })
      .waitFor()
    for (const chart of ['Events recorded', 'Follower lag']) await page.getByText(chart).first().waitFor()
    await page.getByRole('listitem').filter({ hasText: 'store' }).first().waitFor()
  })
})
