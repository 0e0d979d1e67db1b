import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from './database.ts'
import { type PostgresServer, startServer } from './start-server.ts'
import { BIN } from '../../packages/clew/test/run-clew.ts'

const PASSWORD = 'hunter2-hunter2'

let server: PostgresServer
let database: TestDatabase
let home: string

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'clew-cli-errors-'))
  server = await startServer()
  database = await createDatabase({ server: server.url })
  await database.query(`CREATE ROLE ann LOGIN PASSWORD '${PASSWORD}'`)
})
afterAll(async () => {
  await server.close()
  rmSync(home, { recursive: true, force: true })
})

interface Ended {
  readonly code: number
  readonly said: string
}

/** As a stranger would: `clew COMMAND --store URL`. */
async function clew(url: string, command = 'runs', env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = spawn(process.execPath, [BIN, ...command.split(' '), '--store', url], {
    cwd: home,
    env: {
      ...process.env,
      HOME: home,
      CLEW_SECRET: 'a secret for tests that is long enough',
      NO_COLOR: '1',
      ...env,
    },
  })
  child.stdin.end()
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [code] = (await once(child, 'close')) as [number]
  for (const secret of [PASSWORD, new URL(server.url).password]) expect(said).not.toContain(secret)
  return { code, said }
}

function changed(
  url: string,
  parts: Partial<Record<'username' | 'password' | 'pathname' | 'port' | 'hostname', string>>,
) {
  const address = new URL(url)
  for (const [name, value] of Object.entries(parts)) Reflect.set(address, name, value)
  return address.href
}

/** One line, which names what happened and what to do now, and exit code 3. */
async function expectSentence(url: string, ...words: readonly string[]): Promise<void> {
  const { code, said } = await clew(url)
  expect([code, said.trimEnd().split('\n').length, said]).toEqual([
    3,
    1,
    expect.stringMatching(/^clew: .+\. .+\.$/m),
  ])
  for (const word of words) expect(said).toContain(word)
}

/** A proxy to the server that makes it say an older version than it is. */
async function startOldServer(): Promise<{ url: string; proxy: Server }> {
  const { port } = new URL(database.url)
  const [row] = await database.query("SELECT current_setting('server_version_num') AS number")
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), '127.0.0.1')
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      // The answer of current_setting('server_version_num'), of the same length.
      const at = chunk.indexOf(row?.['number'] as string)
      if (at >= 0) chunk.write('120017', at)
      client.write(chunk)
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return { url: changed(database.url, { port: String((proxy.address() as AddressInfo).port) }), proxy }
}

describe('L10 clew runs --store postgres://… says one clear sentence and ends with 3 for', () => {
  it('a server that is not there, by port and by host', async () => {
    await expectSentence(changed(database.url, { port: '1' }), 'cannot be reached', 'host and port')
    await expectSentence(
      changed(database.url, { hostname: 'nowhere.invalid' }),
      'nowhere.invalid',
      'cannot be reached',
    )
  })

  it('P3 a wrong password, and an unknown user', async () => {
    await expectSentence(
      changed(database.url, { password: 'wrong-wrong' }),
      'does not let this user in',
      'password',
    )
    await expectSentence(changed(database.url, { username: 'nobody' }), 'does not let this user in')
  })

  it('a database that does not exist', async () => {
    await expectSentence(
      changed(database.url, { pathname: '/nothing' }),
      '/nothing',
      'does not exist',
      'CREATE DATABASE',
    )
  })

  it('a database without a ledger, and rights that are missing', async () => {
    await expectSentence(database.url, 'There is no ledger')
    const { openLedger } = await import('../../packages/postgres/test/harness.ts')
    const other = await createDatabase({ server: server.url })
    await (await openLedger(other.url)).close()
    await expectSentence(
      changed(other.url, { username: 'ann', password: PASSWORD }),
      'does not allow',
      'docs/guide/operations.md',
    )
  })

  it('a database in another encoding', async () => {
    const create = "TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'"
    const latin = await createDatabase({ server: server.url, create })
    await expectSentence(latin.url, 'LATIN1', 'UTF8')
  })

  it('a server that is too old', async () => {
    const { url, proxy } = await startOldServer()
    try {
      await expectSentence(url, 'needs 14 or newer')
    } finally {
      proxy.close()
    }
  })
})

describe('P3 a URL with a password', () => {
  let hint: string
  let mine: string
  let runId: string
  beforeAll(async () => {
    mine = (await createDatabase({ server: server.url })).url
    expect(new URL(mine).password).not.toBe('')
    runId = /recorded in .+ as (\S+)/.exec((await clew(mine, 'demo --fast --terminal')).said)?.[1] ?? ''
    hint = `CLEW_STORE='${changed(mine, { password: '***' })}' `
  })

  it.each([
    'runs',
    'runs --limit 1',
    'runs --agent reseach',
    'show RUN',
    'transcript RUN',
    'timeline RUN',
    'steps RUN',
    'events RUN --limit 2',
    'state RUN',
    'lineage RUN',
    'graph RUN',
    'explain RUN',
    'diff RUN RUN',
    'cost',
    'search owl',
    'search nothing-of-this-kind',
    'verify',
    'verify RUN',
    'audit RUN',
    'compliance',
    'retention',
    'policy',
    'hold list',
    'memory list',
    'token list',
    'reindex',
    'rebuild',
    'doctor',
    'demo --fast --terminal',
  ])('is left to CLEW_STORE in the hints of clew %s', async (command) => {
    const { code, said } = await clew(mine, command.replaceAll('RUN', runId))
    expect([0, 1], said).toContain(code)
    expect(said).toContain(hint)
    expect(said).not.toContain('--store postgres')
  })
})

describe('P3 a password in a URL that is no use', () => {
  const typed = `postgres://ann:${PASSWORD}@db.example/agents`

  it.each([
    ['in place of a command', typed],
    ['in place of a run', `show ${typed}`],
    ['as an argument too many', `runs ${typed}`],
    ['as the value of another option', `runs --limit ${typed}`],
    ['for people', `show ${typed} --workspace ${typed}`],
    ['for programs', `show ${typed} --json`],
  ])('is not repeated: %s', async (_, command) => {
    const { code } = await clew(`sqlite:${join(home, 'none.db')}`, command, { CLEW_DEBUG: '1' })
    expect(code).toBeGreaterThan(1)
  })

  it.each(['runs', 'doctor', 'tail', 'gc', 'runs --json'])('of a server, by clew %s', async (command) => {
    const { code, said } = await clew(`http://ann:${PASSWORD}@127.0.0.1:1`, command, { CLEW_DEBUG: '1' })
    expect(code).toBeGreaterThan(0)
    expect(said).toMatch(/CLEW_TOKEN|cannot be done through the server/)
  })
})

it('a URL that cannot be read is wrong use, and says how one looks', async () => {
  const { code, said } = await clew('postgres://ann:a#b@host:x/y')
  expect([code, said]).toEqual([2, expect.stringContaining('postgres://USER:PASSWORD@HOST')])
})
