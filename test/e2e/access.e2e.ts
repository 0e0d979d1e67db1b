import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'

let house: House
beforeAll(async () => {
  house = await openHouse()
})
afterAll(() => house.close())

const VIEWS: readonly (readonly [path: string, text: string | RegExp])[] = [
  ['/runs', 'Read all of example.org'],
  ['/runs/field-notes-7?step=search%231', 'Which owls hunt by day? Keep it short, with sources.'],
  ['/runs/research-9', 'Publish the summary?'],
  ['/runs/field-notes-7?tab=timeline&step=write', 'outline'],
  ['/runs/triage-31?tab=graph', 'escalate'],
  ['/runs/triage-31?tab=state&at=5', 'superstep 5 of 10'],
  ['/runs/field-notes-7?tab=causes&event=12', 'Caused by 11 events'],
  ['/runs/field-notes-7?tab=events&event=12', 'tool_error'],
  ['/runs/field-notes-7?tab=cost', 'gpt-4o-mini'],
  ['/runs/field-notes-7?tab=log', 'p95'],
  ['/runs/field-notes-7?tab=lineage', 'newest'],
  ['/runs/field-notes-7?act=fork', 'Begin before'],
  ['/compare?a=archive-001&b=archive-003', /^They part at|^Both|^Only/],
  ['/memory', 'Nothing is remembered here'],
  ['/health', 'Machine and store'],
]

async function faults(axe: AxeBuilder): Promise<string> {
  const { violations } = await axe.analyze()
  return violations
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`),
    )
    .join('\n')
}

describe('U2 accessible', () => {
  it.each(VIEWS)('U2 axe finds nothing in %s, light or dark', async (path, text) => {
    const page = await house.open(path, { colorScheme: 'light' })
    await page.getByText(text).first().waitFor()
    expect(await faults(new AxeBuilder({ page }))).toBe('')
    // Another theme is other colours, and nothing else.
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await faults(new AxeBuilder({ page }).withRules(['color-contrast', 'link-in-text-block']))).toBe(
      '',
    )
    await page.context().close()
  })
})

describe('U2 without a mouse', () => {
  it('U2 finds, opens, looks around and goes back by keyboard alone', async () => {
    const page = await house.open('/runs?q=agent:support')
    await page.getByRole('link', { name: /archive-003/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: 'Transcript', selected: true }).waitFor()
    await page.keyboard.press(']')
    await page.getByRole('treeitem').first().waitFor()
    await page.keyboard.press('j')
    await page.getByRole('complementary', { name: 'What is chosen' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Shortcuts' })
    await sheet.getByText('Find anything').waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder(/Find a run/).waitFor()
    await page.keyboard.type('health')
    await page.getByRole('option', { name: /Health/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Health' }).waitFor()
  })

  it('U2 t changes the theme, and it is remembered', async () => {
    const page = await house.open('/runs', { colorScheme: 'light' })
    const ground = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    const light = await ground()
    await page.keyboard.press('t')
    expect(await ground()).toBe(light)
    await page.keyboard.press('t')
    const dark = await ground()
    expect(dark).not.toBe(light)
    await page.reload()
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    expect(await ground()).toBe(dark)
  })
})

describe('U2 on a phone', () => {
  it('U2 nothing is wider than the screen, and all places are at hand', async () => {
    const page = await house.open('/runs', {
      viewport: { width: 390, height: 780 },
      hasTouch: true,
      isMobile: true,
    })
    const wider = (): Promise<number> =>
      page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    await page.getByRole('link', { name: /field-notes-7/ }).tap()
    await page.getByText('Which owls hunt by day? Keep it short, with sources.').waitFor()
    expect(await wider()).toBe(0)
    await page.getByRole('button', { name: 'You' }).tap()
    const side = page.getByRole('complementary', { name: 'What is chosen' })
    expect((await side.boundingBox())?.width).toBeGreaterThan(380)
    await side.getByRole('button', { name: 'Close' }).tap()
    for (const place of ['Compare', 'Memory', 'Health', 'Runs']) {
      await page
        .getByRole('navigation', { name: 'Places' })
        .getByRole('link', { name: place, exact: true })
        .tap()
      await page.getByRole('heading', { name: place, includeHidden: true }).waitFor({ state: 'attached' })
      expect(await wider()).toBe(0)
    }
  })
})
