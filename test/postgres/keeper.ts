import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

/**
 * Keeps one PostgreSQL server for the process that started this one: `node keeper.ts INITDB POSTGRES PASSWORD SETTINGS`.
 * Commands come in by lines, each is answered by one line of JSON. When the input ends, however its other end came
 * to die, the server is ended and its folder removed; so nothing outlives a test run that was killed.
 */

const [, , initdb = '', installed = '', password = '', settings = '[]'] = process.argv
const NOBODY = 65_534
const READY_MS = 60_000
const READY = 'database system is ready to accept connections'

/** As most servers have it, texts are not ordered by their bytes: whoever counts on that is found out. */
const INITDB = `--username=postgres --auth=scram-sha-256 --no-sync --encoding=UTF8 --locale=C
  --locale-provider=icu --icu-locale=en-US -c scram_iterations=1`.split(/\s+/)

// PostgreSQL refuses to run as root.
const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
const folder = mkdtempSync(join(tmpdir(), 'clew-postgres-'))
const data = join(folder, 'data')
let postgres = installed
let server: ChildProcess | undefined
let port = 0
let said = ''

/** What a signal means to the server: end sessions, drop everything as after a crash, die. */
const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = {
  stop: 'SIGINT',
  crash: 'SIGQUIT',
  kill: 'SIGKILL',
  freeze: 'SIGSTOP',
  thaw: 'SIGCONT',
}

async function create(): Promise<void> {
  chmodSync(folder, 0o700)
  mkdirSync(data, { mode: 0o700 })
  const secret = join(folder, 'password')
  writeFileSync(secret, password, { mode: 0o600 })
  if (owner.uid) for (const path of [folder, data, secret]) chownSync(path, owner.uid, owner.gid)
  const bin = await reachable()
  postgres = join(bin, basename(installed))
  await promisify(execFile)(join(bin, basename(initdb)), ['-D', data, `--pwfile=${secret}`, ...INITDB], {
    ...owner,
    cwd: folder,
  })
}

/** Where its programs are: a copy, when they lie in a folder into which only root can look. */
async function reachable(): Promise<string> {
  const bin = dirname(installed)
  try {
    await promisify(execFile)(installed, ['--version'], { ...owner, cwd: folder })
    return bin
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    const copy = join(folder, 'native')
    cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true })
    return join(copy, basename(bin))
  }
}

async function start(): Promise<{ port: number; pid: number }> {
  const deadline = performance.now() + READY_MS
  for (const isChosen = port !== 0; ; ) {
    if (!isChosen) port = await freePort()
    const started = await launch()
    if (started) return { port, pid: started.pid ?? 0 }
    if (performance.now() > deadline) throw new Error(`PostgreSQL did not come up: ${said}`)
    // The port was taken in between, or sessions of a killed server are still ending.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function launch(): Promise<ChildProcess | undefined> {
  const options = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', '']
  const given = (JSON.parse(settings) as string[]).flatMap((setting) => ['-c', setting])
  const child = spawn(postgres, [...options, ...given], {
    ...owner,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  said = ''
  return new Promise((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4000)
      if (!text.includes(READY)) return
      server = child
      resolve(child)
    })
    child.once('exit', () => resolve(undefined))
  })
}

async function signal(name: string): Promise<void> {
  if (!server || server.exitCode !== null || server.signalCode !== null) return
  const ended = new Promise((resolve) => server?.once('exit', resolve))
  server.kill(SIGNALS[name])
  if (name !== 'freeze' && name !== 'thaw') await ended
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port: free } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return free
}

async function obey(command: string): Promise<unknown> {
  if (command === 'create') {
    await create()
    return start()
  }
  if (command === 'start') return start()
  if (!SIGNALS[command]) throw new Error(`the keeper knows no command ${command}`)
  await signal(command)
  return {}
}

async function end(): Promise<void> {
  await signal('thaw')
  await signal('crash')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

// Whoever reads the answers may be gone before they are written.
process.stdout.on('error', () => {})
for await (const command of createInterface(process.stdin)) {
  const answer = await obey(command).catch((error: unknown) => ({ error: String(error) }))
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
await end()
