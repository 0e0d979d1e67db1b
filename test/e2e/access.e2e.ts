import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordStream } from '../../scripts/record-stream.ts'
import { type House, openHouse } from './house.ts'

let house: House
let endStream: () => Promise<void>
beforeAll(async () => {
  house = await openHouse(async (ledger) => {
    endStream = await recordStream(ledger)
    const value = { likes: 'green tea', knows: ['owls', 'fungi'] }
    await ledger.memory.put({ layer: 'long', scope: 'user:ann', namespace: 'people', key: 'ann', value })
  })
})
afterAll(async () => {
  await endStream()
  await house.close()
})

type View = [path: string, text: string | RegExp, act?: (page: Page) => Promise<void>]

const VIEWS: readonly View[] = [
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
  ['/runs/field-notes-7?act=fork', 'Start before'],
  [
    '/runs/triage-31?tab=state&at=5&since=before',
    'superstep 5 of 10',
    (page) => page.locator('.row-diff').first().waitFor(),
  ],
  ['/runs/triage-31?tab=lineage', 'triage-31-short'],
  ['/runs/crawler-live?act=stop', 'Why, for the record'],
  ['/runs/crawler-live?act=resume', 'clew resume crawler-live'],
  ['/runs/nobody', 'There is no run nobody'],
  ['/runs?q=status:failed', 'flaky'],
  ['/runs?q=stauts:failed', 'stauts'],
  ['/compare', 'Choose two runs'],
  ['/compare?a=archive-001&b=archive-003', /^They part at|^Both|^Only/],
  ['/compare?a=triage-31&b=triage-31-short&all=true', 'They part at'],
  ['/memory?layer=short', 'There are no memory items'],
  ['/health', 'Suggested policy'],
  ['/nowhere', 'This page does not exist'],
  ['/streams/field-notes', 'And how do they hear a mouse under the snow?'],
  ['/streams/field-notes?trace=session-1&highlight=a1', 'Page visit'],
]

/** What opens on a view: each of them is looked at like a view of its own. */
const OPENED: readonly View[] = [
  ['/runs', 'Find anything', (page) => page.keyboard.press('?')],
  ['/runs/field-notes-7', 'In this run', (page) => page.keyboard.press('Control+k')],
  [
    '/runs',
    'List the runs with “nobody”',
    async (page) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type('nobody')
    },
  ],
  [
    '/runs',
    'agent:crawler',
    async (page) => {
      await page.keyboard.press('/')
      await page.keyboard.type('agent:')
    },
  ],
  [
    '/runs/triage-31?act=replay',
    /^Identical/,
    (page) => page.getByRole('button', { name: 'Replay', exact: true }).click(),
  ],
  ['/memory', 'green tea', (page) => page.getByRole('button', { name: /people\/ann/ }).click()],
  [
    '/streams/field-notes',
    'Copy text',
    async (page) => {
      const message = page.getByRole('article', { name: 'Message of You' }).first()
      await message.hover()
      await message.getByRole('button', { name: 'Actions for this message' }).click()
    },
  ],
  [
    '/streams/field-notes',
    'Thread',
    async (page) => {
      const message = page.getByRole('article', { name: 'Message of You' }).first()
      await message.hover()
      await message.getByRole('button', { name: 'Actions for this message' }).click()
      await page.getByRole('menuitem', { name: 'Reply in thread' }).click()
      await page.getByRole('complementary', { name: 'Thread' }).waitFor()
    },
  ],
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
  it.each<View>([...VIEWS, ...OPENED])(
    'U2 axe finds nothing in %s (%s), light or dark',
    async (path, text, act) => {
      const page = await house.open(path, { colorScheme: 'light' })
      if (act) {
        await page.locator('.busy[data-busy="false"]').waitFor({ state: 'attached' })
        await page.getByRole('heading', { level: 1 }).waitFor()
        await act(page)
      }
      await page.getByText(text).first().waitFor()
      expect(await faults(new AxeBuilder({ page }))).toBe('')
      // Another theme is other colours, and nothing else.
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await faults(new AxeBuilder({ page }).withRules(['color-contrast', 'link-in-text-block']))).toBe(
        '',
      )
      await page.context().close()
    },
  )
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
    await page.getByRole('complementary', { name: 'Selection' }).waitFor()
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
    const side = page.getByRole('complementary', { name: 'Selection' })
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
