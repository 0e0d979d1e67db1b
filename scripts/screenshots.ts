import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openLedger } from 'clew'
import type { Page } from 'playwright-core'
import { openBrowser, serve } from '../test/e2e/browser.ts'
import { recordScenes } from '../test/e2e/scenes.ts'
import { recordStream } from './record-stream.ts'

/** `npm run screenshots [name …]`: the main views in both themes, into docs/screenshots. Build the page first. */

const FOLDER = resolve(import.meta.dirname, '../docs/screenshots')

interface Shot {
  readonly path: string
  readonly width?: number
  readonly height?: number
  /** What to do before the picture is taken. */
  readonly before?: (page: Page) => Promise<void>
}

const SHOTS: Readonly<Record<string, Shot>> = {
  runs: { path: '/runs' },
  transcript: { path: '/runs/field-notes-7' },
  inspector: { path: '/runs/field-notes-7?step=search%231%402' },
  timeline: { path: '/runs/field-notes-7?tab=timeline&step=write' },
  graph: { path: '/runs/triage-31?tab=graph' },
  state: { path: '/runs/triage-31?tab=state&at=5' },
  lineage: { path: '/runs/triage-31?tab=lineage' },
  pause: { path: '/runs/research-9' },
  fork: { path: '/runs/field-notes-7?step=write&act=fork' },
  replay: {
    path: '/runs/triage-31?act=replay',
    before: async (page) => {
      await page.getByRole('button', { name: 'Replay', exact: true }).click()
      await page.getByText(/^Identical|^Diverged/).waitFor()
    },
  },
  compare: { path: '/compare?a=triage-31&b=triage-31-short&all=true' },
  palette: { path: '/runs', before: (page) => page.keyboard.press('Control+k') },
  health: { path: '/health' },
  stream: { path: '/streams/field-notes' },
  trace: {
    path: '/streams/field-notes?trace=session-1&highlight=a1',
    before: (page) => page.getByRole('dialog').getByText('Page visit').waitFor(),
  },
  'phone-stream': { path: '/streams/field-notes', width: 390, height: 780 },
  'phone-runs': { path: '/runs', width: 390, height: 780 },
  'phone-run': { path: '/runs/field-notes-7', width: 390, height: 780 },
}

const wanted = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'clew-screenshots-'))
const store = `sqlite:${join(folder, 'scenes.db')}`
await recordScenes(store, 100)
const ledger = await openLedger(store)
const endStream = await recordStream(ledger)
const served = await serve(store)
const browser = await openBrowser()
mkdirSync(FOLDER, { recursive: true })
try {
  for (const [name, shot] of Object.entries(SHOTS))
    if (wanted.length === 0 || wanted.includes(name))
      for (const theme of ['light', 'dark'] as const) await take(name, shot, theme)
} finally {
  await browser.close()
  await served.kill()
  await endStream()
  await ledger.close()
  rmSync(folder, { recursive: true, force: true })
}

async function take(name: string, shot: Shot, theme: 'light' | 'dark'): Promise<void> {
  const { path, width = 1280, height = 800, before } = shot
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: 1.5,
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  })
  const page = await context.newPage()
  page.on('pageerror', (error) => console.error(`${name}: ${error.message}`))
  page.on('console', (message) => message.type() === 'error' && console.error(`${name}: ${message.text()}`))
  await page.goto(`${served.url}${path}`)
  await page.getByRole('main').waitFor()
  await settle(page)
  await before?.(page)
  await settle(page)
  await page.screenshot({ path: join(FOLDER, `${name}-${theme}.png`) })
  console.log(`docs/screenshots/${name}-${theme}.png`)
  await context.close()
}

/** Until nothing moves: answers have arrived and the bar on top is gone. */
async function settle(page: Page): Promise<void> {
  await page.locator('.busy[data-busy="false"]').waitFor({ state: 'attached' })
  await page.waitForTimeout(350)
  await page.locator('.busy[data-busy="false"]').waitFor({ state: 'attached' })
}
