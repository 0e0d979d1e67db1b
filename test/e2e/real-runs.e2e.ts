import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importDeskChats } from './desk-chats.ts'
import { type House, openHouse } from './house.ts'

/** Imported runs: untimed, unpriced, with parallel calls, errors, nulls, long prompts and JSON inside strings. */

let house: House
let runs: string[]
beforeAll(async () => {
  house = await openHouse(async (_, store, folder) => {
    runs = await importDeskChats(store, folder, 6)
  })
})
afterAll(() => house.close())

const TABS = ['Transcript', 'Timeline', 'Graph', 'State', 'Causes', 'Events', 'Cost', 'Run log', 'Lineage']
const SIZES = [
  { width: 390, height: 780 },
  { width: 1440, height: 900 },
] as const

describe('U1 imported runs', () => {
  for (const viewport of SIZES)
    it(`U1 shows every tab of every run without an error, ${viewport.width} px wide`, async () => {
      const page = await house.open('/runs', { viewport })
      for (const runId of runs) {
        await page.goto(`${house.url}/runs/${runId}`)
        for (const name of TABS) {
          await page.getByRole('tab', { name }).click()
          await page.getByRole('tab', { name, selected: true }).waitFor()
          await page.locator('.busy[data-busy="false"]').waitFor({ state: 'attached' })
          if (name === 'Graph') await page.locator('.react-flow__node').first().waitFor()
          expect(await page.getByRole('alert').allInnerTexts()).toEqual([])
        }
      }
    })

  it('U1 the graph marks failures, lists the steps of a node, and follows the scrubber', async () => {
    const page = await house.open('/runs/desk-4?tab=graph', { viewport: SIZES[1] })
    const booking = page.getByRole('group', { name: /book_seat, \d+ times, \d+ failed/ })
    await booking.getByText(/failed/).waitFor()
    await booking.click()
    const list = page.getByRole('region', { name: 'Steps of book_seat' })
    const first = list.getByRole('listitem').first()
    await first.getByText('payment refused').waitFor()
    await first.getByRole('button').click()
    await page
      .getByRole('complementary', { name: 'Selection' })
      .getByText('payment refused')
      .first()
      .waitFor()
    expect(await page.locator('.task[data-later="true"]').count()).toBe(0)
    await page.goto(`${house.url}/runs/desk-4?tab=graph&at=1`)
    await page.locator('.task[data-later="true"]').first().waitFor()
  })

  it('U1 a tab that cannot be drawn says which and why, keeps header and tabs, and blames no server', async () => {
    house.expectErrors(/edges|is not iterable|groupBy/)
    const page = await house.open('/health')
    await page.route(/\/runs\/desk-1\/graph$/, (route) =>
      route.fulfill({ json: { nodes: [{ id: 'a', parent: null, statuses: {} }], edges: null } }),
    )
    await page.goto(`${house.url}/runs/desk-1?tab=graph`)
    const alert = page.getByRole('alert')
    await alert.getByText(/^Graph could not be drawn: /).waitFor()
    expect(await alert.innerText()).not.toMatch(/server/)
    await page.getByRole('heading', { name: 'harbour' }).waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByRole('treeitem').first().waitFor()
  })

  it('U2 passes axe on imported runs, in both themes', async () => {
    for (const viewport of SIZES) {
      const page = await house.open('/runs/desk-4', { viewport })
      for (const name of ['Transcript', 'Timeline', 'Graph', 'Cost']) {
        await page.getByRole('tab', { name }).click()
        await page.locator('.busy[data-busy="false"]').waitFor({ state: 'attached' })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          const axe = new AxeBuilder({ page })
          if (colorScheme === 'dark') axe.withRules(['color-contrast'])
          const { violations } = await axe.analyze()
          expect(violations.map(({ id, nodes }) => `${name} ${id} ${nodes[0]?.html}`)).toEqual([])
        }
      }
    }
  })
})
