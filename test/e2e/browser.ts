import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'
import { BIN } from '../../packages/clew/test/run-clew.ts'

const ROOT = resolve(import.meta.dirname, '../..')

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The Chromium of an npm package, or the one that CLEW_CHROMIUM names. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env['CLEW_CHROMIUM'] ?? (await chromium.executablePath())
  return playwright.launch({ executablePath, args: FLAGS, headless: true })
}

export interface Served {
  readonly url: string
  readonly port: number
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
}

/** A real `clew serve` in a process of its own. */
export async function serve(store: string, port = 0, more: readonly string[] = []): Promise<Served> {
  const args = [
    BIN,
    'serve',
    '--json',
    '--store',
    store,
    '--port',
    String(port),
    '--agent',
    join(ROOT, 'test/e2e/agents.ts'),
    ...more,
  ]
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()))
  const url = await firstUrl(child, () => errors)
  return {
    url,
    port: Number(new URL(url).port),
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

async function firstUrl(child: ChildProcess, errors: () => string): Promise<string> {
  if (!child.stdout) throw new Error('The server has no output')
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /"url":\s*"(http:[^"]+)"/.exec(line)?.[1]
    if (found !== undefined) {
      child.stdout.resume()
      return found
    }
  }
  throw new Error(`The server ended before it said where it is: ${errors()}`)
}
