import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { createDatabase, query } from './database.ts'
import { startServer } from './start-server.ts'

const POLL = { timeout: 60_000, interval: 20 }
const isUp = (url: string): Promise<boolean> =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  )

/** A process that starts a server, says its URL, and waits. */
function startTenant(): { readonly said: Promise<string>; kill(signal: NodeJS.Signals): Promise<unknown> } {
  const script = `import { startServer } from ${JSON.stringify(new URL('start-server.ts', import.meta.url).href)}
    console.log((await startServer()).url)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const ended = once(child, 'exit')
  const said = once(createInterface(child.stdout), 'line').then(([line]) => String(line))
  return {
    said,
    async kill(signal) {
      // The whole group, as a terminal or a supervisor does it.
      process.kill(-(child.pid as number), signal)
      await ended
    },
  }
}

describe('L10 the server that tests run on', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'is gone when the process that started it ends by %s',
    async (signal) => {
      const tenant = startTenant()
      const url = await tenant.said
      expect(await isUp(url)).toBe(true)
      await tenant.kill(signal)
      await expect.poll(() => isUp(url), POLL).toBe(false)
    },
  )

  it('keeps what was committed through a crash and a kill, and is started again at its address', async () => {
    const server = await startServer({ durable: true })
    await query(server.url, 'CREATE TABLE kept (n int)')
    // Where text is ordered unlike bytes, whoever counts on bytes is found out.
    expect(await query(server.url, `SELECT 'a' < 'B' AS unlike`)).toEqual([{ unlike: true }])
    for (const end of [server.crash, server.kill, server.stop]) {
      await query(server.url, 'INSERT INTO kept VALUES (1)')
      await end()
      expect(await isUp(server.url)).toBe(false)
      await server.start()
    }
    expect(await query(server.url, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 3 }])
    await server.close()
    expect(await isUp(server.url)).toBe(false)
  })

  it('gives each who asks a database of its own', async () => {
    const [one, two] = await Promise.all([createDatabase(), createDatabase()])
    await one.query('CREATE TABLE own (n int)')
    await expect(two.query('SELECT * FROM own')).rejects.toThrow('does not exist')
    await Promise.all([one.drop(), two.drop()])
    await expect(one.query('SELECT 1')).rejects.toThrow('does not exist')
  })
})
