import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { BIN } from '../../packages/clew/test/run-clew.ts'

/** `clew serve` as a process of its own. */
export interface Served {
  readonly url: string
  /** SIGKILL: nothing is said to anybody. */
  kill(): Promise<void>
  /** The same server again, at the same address. */
  restart(): Promise<void>
}

/** For all processes of a test, as machines of one ledger share it. */
export const SECRET = 'a text that all servers of this ledger share'

export async function serve(store: string, args: readonly string[] = []): Promise<Served> {
  let { child, url } = await start(store, '0', args)
  return {
    url,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
    async restart() {
      const again = await start(store, new URL(url).port, args)
      child = again.child
    },
  }
}

async function start(
  store: string,
  port: string,
  args: readonly string[],
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(
    process.execPath,
    [BIN, 'serve', '--json', '--no-page', '--store', store, '--port', port, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, CLEW_SECRET: SECRET } },
  )
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  for await (const line of createInterface(child.stdout)) {
    const { url } = JSON.parse(line) as { url?: string }
    if (url !== undefined) return { child, url }
  }
  throw new Error(`clew serve has ended before it listened. ${errors}`)
}
