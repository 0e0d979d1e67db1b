import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
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
/** Thoughts pass, and one that is seen too late is followed by a question: so the page itself kills at the first. */
const killAtFirstThought = (page: Page): Promise<void> =>
  page.evaluate<void>(`new Promise((done) => {
    const watch = new MutationObserver(() => {
      if (!/The question is about|looks? right/.test(document.body.textContent)) return
      watch.disconnect()
      ;[...document.querySelectorAll('button')].find((each) => each.textContent.includes('Kill')).click()
      done()
    })
    watch.observe(document.body, { childList: true, characterData: true, subtree: true })
  })`)
/** The transcript draws the rows in view: what it ends with is there when it is scrolled to its end. */
async function scrollTo(page: Page, place: 'start' | 'end', row: Locator): Promise<void> {
  await page.getByRole('feed', { name: 'Transcript' }).waitFor()
  const top = place === 'start' ? 0 : 1e9
  // Rows get their heights when they are drawn, so the end moves until they have.
  await expect
    .poll(async () => {
      await page.evaluate(`document.querySelector('[role=feed]').parentElement.scrollTop = ${top}`)
      return row.isVisible()
    })
    .toBe(true)
}
const lastRow = (page: Page): Locator => page.getByRole('article').filter({ hasText: 'completed' }).last()
const answers = (page: Page) => page.getByRole('article', { name: 'Message of Ariadne' })

describe('the demo, as a stranger meets it', () => {
  it('T2 T4 R6 R7 U1 is asked, thinks aloud, is killed and goes on, asks before it publishes; then scrub, fork, compare', async () => {
    const page = await open('/streams')
    // Somebody has asked already.
    await answers(page).getByText('northern hawk-owl').waitFor()
    expect(new URL(page.url()).pathname).toBe('/streams/field-notes')

    // What could be asked stands there; it is written, not sent.
    await page
      .getByRole('group', { name: 'Examples' })
      .getByRole('button', { name: 'And publish it' })
      .click()
    const killed = killAtFirstThought(page)
    await page.keyboard.press('Enter')
    await killed
    await page.getByRole('article', { name: 'Session of Ariadne, interrupted' }).waitFor()
    await page.getByRole('article', { name: 'Session of Ariadne, running' }).waitFor()

    await page.getByText('May this be published').waitFor()
    await page.getByRole('button', { name: 'Yes', exact: true }).click()
    await answers(page).getByText('Published.').waitFor()
    const board = readFileSync(join(folder, 'demo-board.ndjson'), 'utf8').trim().split('\n')
    expect(board.map((line) => (JSON.parse(line) as { title: string }).title)).toEqual([
      'Why owls fly so quietly',
    ])
    expect(await page.getByRole('article', { name: /^Session of Ariadne/ }).count()).toBe(2)

    // The same run, looked at from near: its thoughts, an earlier moment of it, and another way it could have gone.
    await answers(page).last().getByRole('button', { name: 'trace', exact: true }).click()
    await page.getByRole('dialog').getByText('Open run').click()
    await page.waitForURL(/\/runs\//)
    const runId = decodeURIComponent(new URL(page.url()).pathname.slice('/runs/'.length))
    await scrollTo(page, 'end', lastRow(page))
    // What the kill cut off says so, and its thought stands where it was thought again.
    const told = page.getByRole('feed', { name: 'Transcript' })
    const cut = told.getByRole('article').filter({ hasText: /^thinking.*interrupted$/s })
    await scrollTo(page, 'start', cut)
    expect(await told.getByText('running', { exact: true }).count()).toBe(0)
    const placeOf = async (each: Locator): Promise<number> => (await each.boundingBox())?.y ?? Number.NaN
    const thought = told.getByRole('article').filter({ hasText: 'The question is about' })
    expect(await placeOf(thought)).toBeGreaterThan(await placeOf(cut))
    // What the model called is told once; it leads to the step that did it.
    expect(await told.getByRole('button', { name: 'workspace_search' }).count()).toBe(0)
    await told.getByRole('button', { name: 'search_notes' }).first().click()
    const side = page.getByRole('complementary', { name: 'Selection' })
    await side.getByRole('heading', { name: 'workspace_search' }).waitFor()
    await side.getByText('output').waitFor()
    await page.keyboard.press('Escape')
    // The code is there, too.
    await page.keyboard.press('r')
    const again = page.getByRole('dialog', { name: 'Replay this run' })
    await again.getByRole('button', { name: 'Replay', exact: true }).click()
    await again.getByText(/^Identical/).waitFor()
    await again.getByRole('button', { name: 'Close' }).first().click()
    await again.waitFor({ state: 'detached' })
    const track = await page.getByRole('slider', { name: 'Superstep' }).boundingBox()
    if (!track) throw new Error('The scrubber is not there')
    await page.mouse.move(track.x + track.width - 10, track.y + 10)
    await page.mouse.down()
    await page.mouse.move(track.x + track.width * 0.4, track.y + 10, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(/[?&]at=\d/)
    await page.getByRole('button', { name: 'To the end' }).click()
    await page.keyboard.press('f')
    const sheet = page.getByRole('dialog', { name: 'Fork this run' })
    await sheet.getByText(/kept, \$0/).waitFor()
    await sheet.getByRole('button', { name: 'Fork', exact: true }).click()
    await page.getByText(/^fork of/).waitFor()
    expect(page.url()).not.toContain(encodeURIComponent(runId))
    await page.keyboard.press('c')
    await page.waitForURL(/\/compare\?a=/)
    await page.getByText(/^They part at|^Both went the same way|^Only words differ/).waitFor()
    // The fork asks for itself, too.
    await page.goBack()
    await page.getByRole('button', { name: 'Yes', exact: true }).click()
    await scrollTo(page, 'end', lastRow(page))
  })

  it('T3 U2 opens the trace by its address, closes it with replace, and shows the same after a reload', async () => {
    const page = await open('/streams/field-notes')
    await answers(page).last().getByRole('button', { name: 'trace', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Workspace search').first().waitFor()
    expect(page.url()).toMatch(/[?&]trace=([^&]+)&highlight=answer-\1$/)
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
    await page.getByRole('dialog').getByRole('button', { name: 'Run again…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replace the answer' }).click()
    const picker = page.getByRole('combobox', { name: 'Version' })
    await picker.waitFor()
    expect(await picker.inputValue()).not.toBe(old)
    expect(await cards.count()).toBe(count)
    await picker.selectOption(old)
    await page.getByRole('dialog').getByText('superseded').first().waitFor()
    expect(await page.getByRole('button', { name: 'Run again' }).count()).toBe(0)
  })

  it('R5 U1 what is asked while an answer is waited for: says what waits, has its form below, then goes on by itself', async () => {
    const page = await open('/streams/field-notes')
    await say(page, 'How do owls hear a mouse? And publish it')
    await page.getByRole('button', { name: 'Yes', exact: true }).waitFor()
    await say(page, 'Which owls migrate?')
    const told = answers(page).filter({ hasText: 'as soon as you have answered what I asked you before' })
    await told.waitFor()
    const byDay = answers(page).filter({ hasText: 'northern hawk-owl' })
    await byDay.first().getByRole('button', { name: 'trace', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Run again…' }).click()
    await dialog.getByRole('button', { name: 'Replace the answer' }).click()
    await dialog.getByText('A message in this stream has no answer yet.').waitFor()
    await dialog.getByRole('button', { name: 'Show it' }).click()
    await dialog.waitFor({ state: 'detached' })
    await told.nth(1).waitFor()
    // It is asked once, below what was said last.
    const form = page.getByRole('button', { name: 'Yes', exact: true })
    expect(await form.count()).toBe(1)
    const [lower, upper] = [await form.boundingBox(), await told.last().boundingBox()]
    expect(lower?.y).toBeGreaterThan(upper?.y ?? Number.POSITIVE_INFINITY)
    // A process that dies meanwhile says nothing twice.
    await page.getByRole('button', { name: 'Kill the agents' }).click()
    await form.click()
    await answers(page).getByText('Published.').last().waitFor()
    await answers(page).getByText('Scops owls').waitFor()
    expect(await told.count()).toBe(2)
    await page
      .getByRole('article', { name: /^Session of Ariadne, (running|paused)/ })
      .waitFor({ state: 'detached' })
    await byDay.first().waitFor()
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

  it('U2 on a phone nothing is wider than it, and a trace with several versions can be closed', async () => {
    const page = await open('/streams/field-notes', 390)
    await answers(page).first().waitFor()
    const width: number = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(390)
    await answers(page).first().getByRole('button', { name: 'trace', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Version' }).waitFor()
    for (const name of ['Open run', 'Close']) {
      const box = await dialog.getByText(name).or(dialog.getByRole('button', { name })).first().boundingBox()
      expect((box?.x ?? 1000) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
    }
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
  })
})
