import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ledger } from '@clew/ledger'
import { openLedger } from 'clew'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { openBrowser, serve, type Served } from './browser.ts'
import { recordScenes } from './scenes.ts'

/** A ledger with scenes, a server on it and a browser: what every test of the page stands in. */
export interface House {
  readonly url: string
  /** The same ledger, from another process than the server's. */
  readonly ledger: Ledger
  /** A page that fails the test when something in it throws. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>
  /** Ends the server as a crash would. */
  killServer(): Promise<void>
  /** Begins it again, where it was. */
  startServer(): Promise<void>
  close(): Promise<void>
}

export async function openHouse(prepare?: (ledger: Ledger) => Promise<void>): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-e2e-'))
  const store = `sqlite:${join(folder, 'ledger.db')}`
  await recordScenes(store)
  const ledger = await openLedger(store)
  await prepare?.(ledger)
  const browser: Browser = await openBrowser()
  let served: Served = await serve(store)
  const { url, port } = served
  const failures: Error[] = []
  return {
    url,
    ledger,
    async open(path, options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      page.on('pageerror', (error) => failures.push(error))
      await page.goto(`${url}${path}`)
      return page
    },
    killServer: () => served.kill(),
    async startServer() {
      served = await serve(store, port)
    },
    async close() {
      await browser.close()
      await served.kill()
      await ledger.close()
      rmSync(folder, { recursive: true, force: true })
      if (failures.length > 0) throw new AggregateError(failures, 'The page threw')
    },
  }
}
