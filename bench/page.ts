import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from 'clew'
import type { Page } from 'playwright-core'
import { openBrowser, serve } from '../test/e2e/browser.ts'
import { longRun } from '../test/e2e/scenes.ts'

/**
 * `node --conditions=@clew/source bench/page.ts [steps]`: how the built page bears a very long run, and a live one.
 * A long task is one of more than 50 ms: while it lasts, nothing answers. Build the page first.
 */

const STEPS = Number(process.argv[2] ?? 100_000)
const LIVE_MS = 8000
const WATCH = `globalThis.longTasks = []; globalThis.frames = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => longTasks.push(Math.round(entry.duration)))).observe({ type: 'longtask' });
const frame = () => { globalThis.frames++; requestAnimationFrame(frame) }; requestAnimationFrame(frame)`

const folder = mkdtempSync(join(tmpdir(), 'clew-page-'))
const store = `sqlite:${join(folder, 'ledger.db')}`
const ledger = await openLedger(store)
await longRun(ledger, 'long', STEPS, Date.now() - STEPS)
const served = await serve(store)
const browser = await openBrowser()
try {
  await measureLong()
  await measureLive()
} finally {
  await browser.close()
  await served.kill()
  await ledger.close()
  rmSync(folder, { recursive: true, force: true })
}

async function open(path: string): Promise<Page> {
  const page = await browser.newPage({ locale: 'en-GB' })
  await page.addInitScript(WATCH)
  await page.goto(`${served.url}${path}`)
  return page
}

/** Long tasks since the last call. */
function longTasks(page: Page): Promise<number[]> {
  return page.evaluate('longTasks.splice(0)')
}

async function measureLong(): Promise<void> {
  const startedMs = performance.now()
  const since = (): string => `${Math.round(performance.now() - startedMs)} ms`
  const page = await open('/runs/long?tab=timeline')
  await page.getByRole('treeitem').first().waitFor()
  console.log(`${STEPS} steps: first rows after ${since()}`)
  await page.getByText(`${STEPS.toLocaleString('en')} steps ·`).waitFor({ timeout: 120_000 })
  console.log(`all of them after ${since()}, long tasks on the way: ${JSON.stringify(await longTasks(page))}`)
  await page.mouse.move(600, 400)
  for (let turn = 0; turn < 40; turn++) {
    await page.mouse.wheel(0, 20_000)
    await page.waitForTimeout(25)
  }
  console.log(`long tasks while scrolling: ${JSON.stringify(await longTasks(page))}`)
  const track = await page.getByRole('slider', { name: 'Superstep' }).boundingBox()
  if (!track) throw new Error('The scrubber is not there')
  await page.mouse.move(track.x + 50, track.y + 10)
  await page.mouse.down()
  for (let at = 0; at < 40; at++) {
    await page.mouse.move(track.x + 50 + at * 15, track.y + 10)
    await page.waitForTimeout(25)
  }
  await page.mouse.up()
  console.log(`long tasks while scrubbing: ${JSON.stringify(await longTasks(page))}`)
  const bytes = await page.evaluate<number>('performance.memory.usedJSHeapSize')
  console.log(`heap: ${Math.round(bytes / 1e6)} MB`)
  await page.close()
}

async function measureLive(): Promise<void> {
  const record = (eventType: string, payload: Record<string, unknown>) =>
    ledger.record({ eventType, correlationId: 'live', payload })
  await record('system.workflow_started', { agent: 'live', input: 'go' })
  for (const tab of ['transcript', 'timeline']) {
    const page = await open(`/runs/live?tab=${tab}`)
    await page.getByRole('tab', { selected: true }).waitFor()
    await page.waitForTimeout(1000)
    await longTasks(page)
    const frames = await page.evaluate<number>('frames')
    const startedMs = performance.now()
    let events = 0
    for (; performance.now() - startedMs < LIVE_MS; events += 20) {
      const ids = Array.from({ length: 10 }, (_, index) => `${tab}#${events + index}`)
      for (const stepId of ids) {
        await record('execution.step_started', { stepId, name: 'work', kind: 'tool', input: {} })
        await record('execution.step_completed', { stepId, output: {} })
      }
      await page.waitForTimeout(Math.max(0, ((events + 20) / 200) * 1000 - (performance.now() - startedMs)))
    }
    const seconds = (performance.now() - startedMs) / 1000
    const drawn = (await page.evaluate<number>('frames')) - frames
    console.log(
      `${tab}, ${Math.round(events / seconds)} events/s: ${Math.round(drawn / seconds)} frames/s, long tasks ${JSON.stringify(await longTasks(page))}`,
    )
    await page.close()
  }
}
