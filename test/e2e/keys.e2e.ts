import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'

let house: House
beforeAll(async () => {
  house = await openHouse()
})
afterAll(() => house.close())

const headed = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name }).first().waitFor()
const tab = (page: Page, name: string): Promise<void> =>
  page.getByRole('tab', { name, selected: true }).waitFor()

describe('U2 keys', () => {
  it('U2 the sheet has every key of the one table', async () => {
    const page = await house.open('/runs')
    await headed(page, 'Runs')
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Shortcuts' })
    const said = await sheet.innerText()
    const table = readFileSync(
      new URL('../../packages/web/src/frame/shortcuts.ts', import.meta.url),
      'utf8',
    ).matchAll(/about: '([^']+)'/g)
    const abouts = [...table].map(([, about = '']) => about)
    expect(abouts.length).toBeGreaterThan(30)
    for (const about of abouts) expect(said).toContain(about)
  })

  it('U2 g goes to every place', async () => {
    const page = await house.open('/runs')
    await headed(page, 'Runs')
    for (const [key, name] of [
      ['s', 'Streams'],
      ['c', 'Compare'],
      ['m', 'Memory'],
      ['h', 'Health'],
      ['r', 'Runs'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await headed(page, name)
    }
  })

  it('U2 in a run: steps, supersteps, ends, errors, tabs, acts, compare, link', async () => {
    const page = await house.open('/runs/triage-31')
    await page.getByRole('article').filter({ hasText: 'report' }).first().waitFor()
    const search = (): URLSearchParams => new URL(page.url()).searchParams
    const at = (step: string | null, superstep: string | null): Promise<void> =>
      page.waitForURL(
        (url) => url.searchParams.get('step') === step && url.searchParams.get('at') === superstep,
      )
    await page.keyboard.press('ArrowLeft')
    await at('report@s10', null)
    await page.keyboard.press('ArrowLeft')
    await at('escalate@s9', '9')
    await page.keyboard.press('ArrowRight')
    await at('report@s10', null)
    await page.keyboard.press('Escape')
    await at(null, null)
    await page.keyboard.press('Shift+ArrowLeft')
    await at(null, '9')
    await page.keyboard.press('Home')
    await at(null, '1')
    await page.keyboard.press('Shift+ArrowRight')
    await at(null, '2')
    await page.keyboard.press('End')
    await at(null, null)
    for (const [key, name] of [
      ['f', 'Fork this run'],
      ['r', 'Replay this run'],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByRole('dialog', { name }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog', { name }).waitFor({ state: 'detached' })
    }
    await page.keyboard.press('c')
    await page.waitForURL(/\/compare\?a=triage-31$/)
    await page.goBack()
    await tab(page, 'Transcript')
    expect(search().toString()).toBe('')

    const failed = await house.open('/runs/field-notes-7?tab=timeline')
    await failed.getByRole('treeitem').first().waitFor()
    for (const key of ['e', 'Shift+E']) {
      await failed.keyboard.press(key)
      await failed.waitForURL(/step=search/)
      await failed.keyboard.press('Escape')
      await failed.waitForURL((url) => !url.searchParams.has('step'))
    }
    await failed.keyboard.press('j')
    await failed.waitForURL(/step=plan/)
    await failed.keyboard.press('+')
    await failed.getByRole('button', { name: 'fit all' }).waitFor()
    await failed.keyboard.press('0')
    await failed.getByRole('button', { name: 'fit all' }).waitFor({ state: 'detached' })
    await failed.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await failed.keyboard.press('y')
    expect(await failed.evaluate('navigator.clipboard.readText()')).toBe(failed.url())
  })

  it('U2 the palette finds runs, streams and places, and does what keys do', async () => {
    const page = await house.open('/runs/triage-31')
    await tab(page, 'Transcript')
    // Words are indexed a little after they are recorded.
    const hits = async (): Promise<number> => {
      const answer = await fetch(`${house.url}/v1/search?query=burrowing`)
      return ((await answer.json()) as { hits: unknown[] }).hits.length
    }
    await expect.poll(hits, { timeout: 60_000 }).toBeGreaterThan(0)
    const find = async (words: string, option: RegExp): Promise<void> => {
      await page.keyboard.press('Control+k')
      // Typed into the palette, not into the page below it.
      await page.locator('input[placeholder^="Find a run"]:focus').waitFor()
      await page.keyboard.type(words)
      await page.getByRole('option', { name: option, selected: true }).waitFor()
      await page.keyboard.press('Enter')
    }
    await find('timeline', /Timeline/)
    await tab(page, 'Timeline')
    await find('fork from', /Fork from/)
    const sheet = page.getByRole('dialog', { name: 'Fork this run' })
    await sheet.waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await find('burrowing', /field-notes-7/)
    await page.waitForURL(/field-notes-7/)
    await find('health', /Health/)
    await headed(page, 'Health')
  })

  it('U2 the palette takes what is typed before it is there, keeps recent runs, and never comes to nothing', async () => {
    const page = await house.open('/runs/triage-31')
    await tab(page, 'Transcript')
    await page.getByRole('heading', { name: 'triage' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await headed(page, 'Runs')
    // Nothing waits for the palette: on its way are letters that mean something to the page below, too.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('xjzz')
    const field = page.getByPlaceholder(/Find a run/)
    await expect.poll(() => field.inputValue()).toBe('xjzz')
    await page.getByRole('option', { name: 'List the runs with “xjzz”', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=xjzz/)
    expect(await page.getByRole('button', { name: /selected/ }).count()).toBe(0)
    await page.keyboard.press('Control+k')
    const recent = page.getByRole('option', { name: /triage-31/, selected: true })
    await recent.waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/runs\/triage-31/)
  })
})
