import type { EventInput, Ledger } from '@clew/ledger'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordBigRun } from '../../packages/clew/src/demo/big-run.ts'
import { type House, openHouse } from './house.ts'
import { longRun } from './scenes.ts'

const STEPS = 20_000
const BIG = 6000
const SESSION_STEPS = 900
const ROW = 26

let house: House
beforeAll(async () => {
  house = await openHouse(async (ledger) => {
    await longRun(ledger, 'long', STEPS, Date.now() - 60_000)
    await recordBigRun(ledger, { runId: 'big', steps: BIG })
    await recordLongSession(ledger)
  })
})
afterAll(() => house.close())

const counted = (count: number): string => count.toLocaleString('en')

describe('U3 a run of very many steps', () => {
  it('U3 has all of them in the timeline, draws those in sight, and comes to the last', async () => {
    const page = await house.open('/runs/long?tab=timeline')
    await page.getByText(`${counted(STEPS)} steps ·`).waitFor()
    const rows = page.getByRole('treeitem')
    expect(await rows.count()).toBeLessThan(120)
    // The last of them failed.
    await page.keyboard.press('Shift+E')
    await page.getByRole('treeitem', { selected: true }).waitFor()
    await page.getByRole('complementary').getByText('the very last one').waitFor()
    expect(new URL(page.url()).searchParams.get('step')).toBe(`work#${STEPS - 1}`)
    await page.getByRole('button', { name: 'Fold all' }).or(page.getByText('fold all')).click()
    expect(await rows.count()).toBeLessThan(120)
  })

  it('U3 shows the step that belongs to a place, wherever one scrolls to', async () => {
    const page = await house.open('/runs/long?tab=timeline')
    await page.getByText(`${counted(STEPS)} steps ·`).waitFor()
    for (const place of [STEPS - 1, 12_345, 1, 7777]) {
      const tree = page.getByRole('tree')
      await scrollTo(tree, place * ROW)
      // Again until its row is drawn: before that there is nothing to hit.
      const hit = async (): Promise<string | null> => {
        const { x, y } = (await tree.boundingBox()) ?? { x: 0, y: 0 }
        await page.mouse.click(x + 60, y + place * ROW + ROW / 2)
        return new URL(page.url()).searchParams.get('step')
      }
      await expect.poll(hit, { timeout: 60_000 }).toBe(`work#${place}`)
    }
  })

  it('U3 every event can be gone to, without reading those before it', async () => {
    const page = await house.open(`/runs/long?tab=events&event=${STEPS}`)
    await page
      .getByRole('listitem')
      .filter({ hasText: counted(STEPS).replace(',', '') })
      .first()
      .waitFor()
    expect(await page.getByRole('listitem').count()).toBeLessThan(120)
  })

  it('U2 a link to a late step opens it at once, and the list comes to it when it is read', async () => {
    const page = await house.open('/health')
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    // All but the first steps stay on their way until the chosen one is seen.
    await page.route(/\/runs\/long\/steps\?/, async (route) => {
      await held
      await route.continue()
    })
    await page.goto(`${house.url}/runs/long?tab=timeline&step=work%23${STEPS - 2}`)
    const side = page.getByRole('complementary', { name: 'Selection' })
    await side.getByText('completed').first().waitFor()
    await side.getByRole('button', { name: `Copy step id work#${STEPS - 2}` }).waitFor()
    letGo()
    await page.getByRole('treeitem', { selected: true }).filter({ hasText: 'work' }).waitFor()
    expect(await page.getByRole('treeitem').count()).toBeLessThan(120)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('U3 the transcript gathers what follows each other, and loses nothing', async () => {
    const page = await house.open('/runs/long')
    await page.getByText(`×${counted(STEPS - 1)}`).waitFor()
  })

  it('U3 what steps gave back is read when it comes into view, at the beginning, in the middle and at the end', async () => {
    const page = await house.open('/runs/big')
    const said = (step: number) => page.getByText(`What step ${step} gave back`).first()
    await said(3).waitFor()
    const feed = page.getByRole('feed')
    await page.locator('[role=feed][aria-busy=false]').waitFor()
    const height = (await feed.boundingBox())?.height ?? 0
    await scrollTo(feed, height / 2)
    await page
      .getByText(/What step [23]\d\d\d gave back/)
      .first()
      .waitFor()
    await scrollTo(feed, height * 3)
    await page.getByText(`All ${BIG} steps are done.`).waitFor()
    await said(BIG).waitFor()
    expect(await page.getByRole('article').count()).toBeLessThan(120)
  })
})

describe('U3 a session of very many steps', () => {
  it('U3 begins with its newest steps and reads earlier ones when they are wanted', async () => {
    const page = await house.open('/streams/general?trace=long-session')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`thought ${SESSION_STEPS - 1}.`).waitFor()
    await dialog.getByText(`200 of ${SESSION_STEPS} steps`).waitFor()
    expect(await dialog.getByRole('listitem').count()).toBeLessThan(300)
    await dialog.getByRole('button', { name: `${SESSION_STEPS - 200} earlier steps` }).click()
    await dialog.getByRole('button', { name: `${SESSION_STEPS - 400} earlier steps` }).waitFor()
    await dialog.getByText(`thought ${SESSION_STEPS - 400}.`, { exact: true }).waitFor({ state: 'attached' })
  })

  it('U3 comes to a step that an address marks, however far back it lies', async () => {
    const page = await house.open('/streams/general?trace=long-session&highlight=message-30')
    const marked = page.getByRole('dialog').locator('[aria-current=true]')
    await marked.getByText('thought 30.', { exact: true }).waitFor()
  })
})

/** All of it lies in what scrolls. */
async function scrollTo(all: Locator, top: number): Promise<void> {
  await all.evaluate((inside, to) => {
    if (inside.parentElement) inside.parentElement.scrollTop = to
  }, top)
}

async function recordLongSession(ledger: Ledger): Promise<void> {
  const event = (eventType: string, payload: EventInput['payload']): EventInput => ({
    eventType,
    correlationId: 'long-session',
    payload,
  })
  const session = {
    streamId: 'general',
    persona: { id: 'ada', name: 'Ada' },
    triggerMessageId: null,
    supersedes: null,
  }
  await ledger.append([
    event('system.workflow_started', { agent: 'ada', threadId: 'general', session }),
    ...Array.from({ length: SESSION_STEPS }, (_, at) => {
      const step = { stepId: `think#${at}`, name: 'thinking', kind: 'thinking' }
      return [
        event('execution.step_started', step),
        event('execution.step_completed', {
          ...step,
          output: { content: `thought ${at}.`, messageId: `message-${at}` },
        }),
      ]
    }).flat(),
    event('system.workflow_completed', { output: null }),
  ])
}
