import { agent } from 'clew'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agedLines } from '../retention/aged-lines.ts'
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
    await ledger.import(agedLines(12))
    await ledger.hold({ runId: 'aged-9-1' }, { reason: 'case 12', by: 'legal' })
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
    await page.getByText('No memory item matches').waitFor()
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

  it('R10 shows size, growth, holds, the proposed policy and what would go by it; then what is in force', async () => {
    const page = await house.open('/health')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const section = page.getByRole('region', { name: 'Size and retention' })
    await section.getByText(/^over 7 days, [\d.]+ over 1[23](\.\d)? days$/).waitFor()
    await section.getByText(/^about [\d.]+ [KM]B, if nothing is deleted$/).waitFor()
    await section.getByText('none: everything stays').waitFor()
    await section.getByText('aged-9-1').first().waitFor()
    await section.getByText(/keeps 2 runs · case 12 · legal/).waitFor()
    const goes = section.getByRole('table', { name: 'What it would delete today' })
    await goes.getByRole('row', { name: /^short-term memory 11 11/ }).waitFor()
    await section.getByText('clew gc --policy retention.json --dry-run').waitFor()
    await section.getByRole('button', { name: 'Copy policy' }).click()
    await section.getByRole('button', { name: 'Copied' }).waitFor()
    const policy = JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()')) as {
      rules: { name: string }[]
    }
    expect(policy.rules.map(({ name }) => name)).toEqual([
      'short-term memory',
      'session memory',
      'completed runs',
    ])

    await house.ledger.setPolicy({ retention: policy }, { by: 'ann' })
    await page.reload()
    await section.getByText('short-term memory, session memory, completed runs').waitFor()
    await section.getByText(/of the workspace · ann/).waitFor()
    await section
      .getByRole('table', { name: 'What would be deleted today' })
      .getByRole('row', { name: /^short-term/ })
      .waitFor()
    await section.getByText('The active policy leaves nothing to suggest.').waitFor()
    await house.ledger.gc({ by: 'nightly' })
    await page.reload()
    await section.getByText(/by nightly: 11 events of 11 runs deleted by short-term memory/).waitFor()
    await section.getByText('What would be deleted today: nothing.').waitFor()
  })

  it('R10 says inline when the report cannot be had, and tries again', async () => {
    const page = await house.open('/runs')
    await page.route('**/v1/doctor*', (route) => route.abort())
    await page.goto(`${house.url}/health`)
    const section = page.getByRole('region', { name: 'Size and retention' })
    await section.getByRole('alert').waitFor()
    await page.unroute('**/v1/doctor*')
    await section.getByRole('button', { name: 'Try again' }).click()
    await section.getByText('Active policy', { exact: true }).waitFor()
  })
})
