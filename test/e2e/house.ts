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
  /** A page that fails the tests when something in it throws or writes an error to the console. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>
  /** Errors with these words are what a test is about. */
  expectErrors(words: RegExp): void
  /** Ends the server as a crash would. */
  killServer(): Promise<void>
  /** Begins it again, where it was. */
  startServer(): Promise<void>
  close(): Promise<void>
}

export async function openHouse(
  prepare?: (ledger: Ledger, store: string, folder: string) => Promise<void>,
): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-e2e-'))
  const store = `sqlite:${join(folder, 'ledger.db')}`
  await recordScenes(store)
  const ledger = await openLedger(store)
  await prepare?.(ledger, store, folder)
  const browser: Browser = await openBrowser()
  let served: Served = await serve(store)
  const { url, port } = served
  const failures: Error[] = []
  /** The browser itself reports requests that a server refused or did not answer. */
  const expected = [/^Failed to load resource/, /^WebSocket connection to/]
  const isExpected = (message: string): boolean => expected.some((words) => words.test(message))
  return {
    url,
    ledger,
    async open(path, options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      page.on('pageerror', (error) => isExpected(error.message) || failures.push(error))
      page.on('console', (message) => {
        if (message.type() === 'error' && !isExpected(message.text()))
          failures.push(new Error(message.text()))
      })
      await page.goto(`${url}${path}`)
      return page
    },
    expectErrors: (words) => void expected.push(words),
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
