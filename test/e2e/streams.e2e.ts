import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBrowser } from './browser.ts'

const ROOT = resolve(import.meta.dirname, '../..')
let folder: string
let demo: ChildProcess
let url: string
let browser: Browser

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-demo-'))
  const args = [
    'packages/clew/bin/clew.mjs',
    'demo',
    '--store',
    `sqlite:${join(folder, 'demo.db')}`,
    '--port',
    '0',
  ]
  demo = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  url = await new Promise((found) => {
    let told = ''
    demo.stdout?.on('data', (text) => {
      told += String(text)
      const address = /http:\/\/\S+?:\d+/.exec(told)?.[0]
      if (address) found(address)
    })
  })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  demo.kill('SIGINT')
  if (demo.exitCode === null) await once(demo, 'exit')
  rmSync(folder, { recursive: true, force: true })
})

async function open(path: string, width = 1280): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 860 }, reducedMotion: 'reduce' })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  await page.goto(`${url}${path}`)
  return page
}
async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Write a message' }).first().fill(text)
  await page.keyboard.press('Enter')
}
const answers = (page: Page) => page.getByRole('article', { name: 'Message of Ariadne' })

describe('the demo, as a stranger meets it', () => {
  it('T2 T4 U1 answers a question, streams its thoughts, asks before it publishes, and goes on after it was killed', async () => {
    const page = await open('/streams')
    // Somebody has asked already.
    await answers(page).getByText('northern hawk-owl').waitFor()
    expect(new URL(page.url()).pathname).toBe('/streams/field-notes')

    await say(page, 'Why do owls fly so quietly? And publish it')
    const card = page.getByRole('article', { name: /^Session of Ariadne/ }).last()
    await card.getByText('The question is about').waitFor()
    await page.getByRole('button', { name: 'Kill the agents' }).click()
    await page.getByRole('article', { name: 'Session of Ariadne, interrupted' }).waitFor()
    await page.getByRole('article', { name: 'Session of Ariadne, running' }).waitFor()

    await page.getByText('May this be published').waitFor()
    await page.getByRole('radio', { name: 'approve' }).click()
    await page.getByRole('button', { name: 'Answer', exact: true }).click()
    await answers(page).getByText('Published.').waitFor()
    const board = readFileSync(join(folder, 'demo-board.ndjson'), 'utf8').trim().split('\n')
    expect(board.map((line) => (JSON.parse(line) as { title: string }).title)).toEqual([
      'Why owls fly so quietly',
    ])
    expect(await page.getByRole('article', { name: /^Session of Ariadne/ }).count()).toBe(2)
  })

  it('T3 U2 opens the trace by its address, closes it with replace, and shows the same after a reload', async () => {
    const page = await open('/streams/field-notes')
    await answers(page).last().getByRole('button', { name: 'trace', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Workspace search').first().waitFor()
    expect(page.url()).toMatch(/[?&]trace=session-.*&highlight=answer-session-/)
    // The step that wrote it is marked, and brought into view.
    const marked = dialog.locator('[aria-current="true"]')
    await marked.getByText('Message sent').waitFor()
    await expect.poll(async () => (await marked.boundingBox())?.y).toBeLessThan(800)
    const before = await dialog.getByRole('listitem').count()
    await page.reload()
    await dialog.getByText('Workspace search').first().waitFor()
    expect(await dialog.getByRole('listitem').count()).toBe(before)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('trace=')
  })

  it('T1 runs again: another session takes the place of the one before, which stays to be looked at', async () => {
    const page = await open('/streams/field-notes')
    const cards = page.getByRole('article', { name: /^Session of Ariadne/ })
    await answers(page).first().getByRole('button', { name: 'trace', exact: true }).click()
    await page.waitForURL(/trace=/)
    const old = new URL(page.url()).searchParams.get('trace') ?? ''
    const count = await cards.count()
    await page.getByRole('dialog').getByRole('button', { name: 'Run again' }).click()
    const picker = page.getByRole('combobox', { name: 'Version' })
    await picker.waitFor()
    expect(await picker.inputValue()).not.toBe(old)
    expect(await cards.count()).toBe(count)
    await picker.selectOption(old)
    await page.getByRole('dialog').getByText('superseded').first().waitFor()
    expect(await page.getByRole('button', { name: 'Run again' }).count()).toBe(0)
  })

  it('T5 a thread: who works in it is shown on its message, live and on first load', async () => {
    const page = await open('/streams/field-notes')
    const other = await open('/streams/field-notes')
    const first = page.getByRole('article', { name: 'Message of You' }).first()
    await first.hover()
    await first.getByRole('button', { name: 'Actions for this message' }).click()
    await page.getByRole('menuitem', { name: 'Reply in thread' }).click()
    const thread = page.getByRole('complementary', { name: 'Thread' })
    await thread.getByRole('textbox', { name: 'Write a message' }).fill('Which owls migrate?')
    await page.keyboard.press('Enter')
    await thread.getByRole('article', { name: /^Session of Ariadne/ }).waitFor()
    await other.getByRole('status').filter({ hasText: 'Ariadne is' }).waitFor()
    const late = await open('/streams/field-notes')
    await late.getByRole('status').filter({ hasText: 'Ariadne is' }).waitFor()
    await thread.getByText('Scops owls').waitFor()
    for (const each of [other, late])
      await each.getByRole('status').filter({ hasText: 'Ariadne is' }).waitFor({ state: 'detached' })
    await other.getByRole('button', { name: '2 replies' }).waitFor()
  })

  it('U2 on a phone, by keyboard', async () => {
    const page = await open('/streams/field-notes', 390)
    await answers(page).first().waitFor()
    const width: number = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(390)
  })
})
