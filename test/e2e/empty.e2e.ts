import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBrowser, serve, type Served } from './browser.ts'

let folder: string
let served: Served
let browser: Browser
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-empty-'))
  // Its housekeeping would be the first thing that is recorded.
  served = await serve(`sqlite:${join(folder, 'ledger.db')}`, 0, ['--no-housekeeping'])
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await served.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** A page whose console must stay silent. */
async function open(path: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await (await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' })).newPage()
  page.setDefaultTimeout(30_000)
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('response', (answer) => {
    if (answer.status() >= 400) complaints.push(`${answer.status()} ${answer.url()}`)
  })
  await page.goto(`${served.url}${path}`)
  return { page, complaints }
}

describe('U1 a ledger without anything in it', () => {
  it.each([
    ['/runs', 'No runs yet'],
    ['/streams', 'No stream yet'],
    ['/memory', 'There are no memory items'],
    ['/compare', 'Compare'],
    ['/health', 'on disk. Nothing is recorded yet.'],
  ])('U1 %s says how there would be something, and complains of nothing', async (path, text) => {
    const { page, complaints } = await open(path)
    await page.getByText(text).first().waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('U1 one button lets the demo agent work; its question is answered where it is asked', async () => {
    const { page, complaints } = await open('/runs')
    await page.getByText("openLedger('sqlite:").waitFor()
    await page.getByRole('button', { name: 'Start the demo agent' }).click()
    await page.waitForURL(/\/runs\/demo-/)
    await page.getByText('Why do owls fly so quietly?').first().waitFor()
    await page.getByRole('article').getByText('Publish this to the team?', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'No', exact: true }).click()
    await page.getByRole('article').filter({ hasText: 'completed' }).last().waitFor()
    await page
      .getByRole('article')
      .filter({ hasText: /published\W*false/ })
      .first()
      .waitFor()
    expect(complaints).toEqual([])
  })

  it('U1 a stream that is called like the one of the demo is like any other', async () => {
    const { page, complaints } = await open('/streams')
    await page.getByRole('textbox', { name: 'Name of a new stream' }).fill('field-notes')
    await page.keyboard.press('Enter')
    await page.getByText('There are no messages yet').waitFor()
    await page.goto(`${served.url}/streams/field-notes`).catch(() => undefined)
    expect(complaints.filter((each) => !each.includes('/streams/field-notes/messages'))).toEqual([])
    expect(await page.getByRole('button', { name: 'Kill the agents' }).count()).toBe(0)
  })
})
