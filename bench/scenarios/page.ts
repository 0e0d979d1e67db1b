import { join } from 'node:path'
import { openLedger } from 'clew'
import type { Browser, Locator, Page } from 'playwright-core'
import { recordBigRun } from '../../packages/clew/src/demo/big-run.ts'
import { buildPage } from '../../scripts/build-page.ts'
import { openBrowser, serve } from '../../test/e2e/browser.ts'
import { watchMainThread } from '../main-thread.ts'
import { type Figure, inTempFolder } from '../measure.ts'

const ROUNDS = 3
const LIVE_MS = 6000
const TABS = ['Transcript', 'Graph', 'State', 'Causes', 'Events', 'Cost', 'Run log', 'Lineage', 'Timeline']
const FRAMES = `globalThis.frames = 0; const frame = () => { globalThis.frames++; requestAnimationFrame(frame) }; requestAnimationFrame(frame)`

/** How the built page bears a run of very many steps, and one that goes on at 200 events a second. */
export function pageFigures(steps: number): Promise<Figure[]> {
  if (!buildPage()) throw new Error('The page cannot be built')
  return inTempFolder(async (folder) => {
    const store = `sqlite:${join(folder, 'page.db')}`
    const ledger = await openLedger(store)
    await recordBigRun(ledger, { runId: 'big', steps })
    await ledger.close()
    const first = {
      timeline: await firstOf(store, '/runs/big?tab=timeline', (page) => page.getByRole('treeitem')),
      transcript: await firstOf(store, '/runs/big', (page) => page.getByText('What step 2 gave back')),
    }
    const { tasks, heapMb } = await measureActs(store, steps)
    const live = await measureLive(store)
    const count = steps.toLocaleString('en')
    const task = (name: string, ms: number): Figure => ({
      name: `page, longest task while ${name}`,
      ours: `${ms.toFixed(0)} ms of processor time`,
      beside: 'promise 50 ms',
      ratio: ms,
      most: 50,
      unit: 'ms',
    })
    return [
      ...Object.entries(first).map(([tab, ms]) => ({
        name: `page, ${count} steps: first ${tab === 'timeline' ? 'rows of the timeline' : 'words of the transcript'}`,
        ours: `${ms.toFixed(0)} ms, best of ${ROUNDS} with a new server and a new browser`,
        beside: 'promise 1500 ms',
        ratio: ms,
        most: 1500,
        unit: 'ms',
      })),
      ...tasks.map(([name, ms]) => task(name, ms)),
      {
        name: `page, ${count} steps: memory of its script after all of this`,
        ours: `${heapMb.toFixed(0)} MB`,
        beside: 'promise 300 MB',
        ratio: heapMb,
        most: 300,
        unit: 'MB',
      },
      ...live.map(({ tab, perSecond, frames, ms }) => ({
        ...task(`a run goes on at 200 events/s (${tab})`, ms),
        ours: `${ms.toFixed(0)} ms of processor time, at ${perSecond} events/s and ${frames} frames/s`,
      })),
    ]
  })
}

/** Milliseconds until something is seen, with nothing warm; the best, for others use the machine too. */
async function firstOf(store: string, path: string, seen: (page: Page) => Locator): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++)
    await withPage(store, async (page, url) => {
      const startedMs = performance.now()
      await page.goto(`${url}${path}`, { waitUntil: 'commit' })
      await seen(page).first().waitFor()
      times.push(performance.now() - startedMs)
    })
  return Math.min(...times)
}

async function withPage<T>(
  store: string,
  work: (page: Page, url: string, browser: Browser) => Promise<T>,
): Promise<T> {
  const served = await serve(store)
  const browser = await openBrowser()
  try {
    const page = await browser.newPage({ locale: 'en-GB' })
    page.setDefaultTimeout(120_000)
    return await work(page, served.url, browser)
  } finally {
    await browser.close()
    await served.kill()
  }
}

interface Acts {
  readonly tasks: readonly (readonly [what: string, ms: number])[]
  readonly heapMb: number
}

function measureActs(store: string, steps: number): Promise<Acts> {
  return withPage(store, async (page, url, browser) => {
    const { longestTask } = await watchMainThread(browser)
    const tasks: (readonly [string, number])[] = []
    const act = async (what: string, work: () => Promise<unknown>): Promise<void> =>
      void tasks.push([what, await longestTask(work)])
    await act(`${steps.toLocaleString('en')} steps are read`, async () => {
      await page.goto(`${url}/runs/big?tab=timeline`)
      await page.getByText(`${steps.toLocaleString('en')} steps ·`).waitFor()
    })
    await act('scrolling the timeline', () => wheel(page, 20_000))
    await act('scrubbing', () => scrub(page))
    await act('going from tab to tab', async () => {
      for (const name of TABS) {
        await page.getByRole('tab', { name }).click()
        await page.waitForTimeout(700)
      }
    })
    await page.getByRole('tab', { name: 'Transcript' }).click()
    await act('scrolling the transcript', () => wheel(page, 4000))
    await act('flying through the transcript', () => wheel(page, 100_000))
    await act('scrubbing over the transcript', () => scrub(page))
    const bytes = await page.evaluate<number>('performance.memory.usedJSHeapSize')
    return { tasks, heapMb: bytes / 1e6 }
  })
}

async function wheel(page: Page, by: number): Promise<void> {
  await page.mouse.move(600, 400)
  for (let turn = 0; turn < 40; turn++) {
    await page.mouse.wheel(0, by)
    await page.waitForTimeout(25)
  }
  await page.waitForTimeout(500)
}

async function scrub(page: Page): Promise<void> {
  const track = await page.getByRole('slider', { name: 'Superstep' }).boundingBox()
  if (!track) throw new Error('The scrubber is not there')
  await page.mouse.move(track.x + 50, track.y + 10)
  await page.mouse.down()
  for (let at = 0; at < 40; at++) {
    await page.mouse.move(track.x + 50 + at * 15, track.y + 10)
    await page.waitForTimeout(25)
  }
  await page.mouse.up()
}

interface Live {
  readonly tab: string
  readonly perSecond: number
  readonly frames: number
  readonly ms: number
}

async function measureLive(store: string): Promise<Live[]> {
  const ledger = await openLedger(store)
  const record = (eventType: string, payload: Record<string, unknown>) =>
    ledger.append([{ eventType, correlationId: 'live', payload }])
  await record('system.workflow_started', { agent: 'live', input: 'go' })
  const measured: Live[] = []
  for (const tab of ['transcript', 'timeline'])
    await withPage(store, async (page, url, browser) => {
      const { longestTask } = await watchMainThread(browser)
      await page.addInitScript(FRAMES)
      await page.goto(`${url}/runs/live?tab=${tab}`)
      await page.getByRole('tab', { selected: true }).waitFor()
      await page.waitForTimeout(1000)
      const before = await page.evaluate<number>('frames')
      const startedMs = performance.now()
      let events = 0
      const ms = await longestTask(async () => {
        for (; performance.now() - startedMs < LIVE_MS; events += 20) {
          for (let at = 0; at < 10; at++) {
            const stepId = `${tab}#${events + at}`
            await record('execution.step_started', { stepId, name: 'work', kind: 'tool', input: {} })
            await record('execution.step_completed', { stepId, output: {} })
          }
          await page.waitForTimeout(Math.max(0, (events + 20) * 5 - (performance.now() - startedMs)))
        }
      })
      const seconds = (performance.now() - startedMs) / 1000
      const frames = Math.round(((await page.evaluate<number>('frames')) - before) / seconds)
      measured.push({ tab, perSecond: Math.round(events / seconds), frames, ms })
    })
  await ledger.close()
  return measured
}
