import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Ledger, openLedger, TraceEmitter } from 'clew'
import { liveSteps, readSession, STEP_PROGRESS } from '@clew/trace'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDatabase, query, type TestDatabase } from '../postgres/database.ts'
import { openSessionPage, type SessionPage } from './client.ts'
import { SECRET, serve, type Served } from './serve.ts'
import { begin, end, stepBegins, stepEnds, writeSession } from './session-writer.ts'

/** Until the page shows what the ledger has, to the last field. */
async function assertShown(page: SessionPage, ledger: Ledger, sessionId: string): Promise<void> {
  const { steps, session } = await readSession(ledger, sessionId)
  await vi.waitFor(
    () => {
      expect(page.state().head?.status).toBe(session.status)
      expect(liveSteps(page.state())).toEqual(steps)
    },
    { timeout: 60_000, interval: 50 },
  )
}

const hasSteps = (page: SessionPage, count: number): Promise<void> =>
  vi.waitFor(() => expect(liveSteps(page.state()).length).toBeGreaterThanOrEqual(count), {
    timeout: 60_000,
    interval: 20,
  })

describe('servers that die', () => {
  const served: Served[] = []
  const pages: SessionPage[] = []
  let ledger: Ledger
  let folder: string
  let database: TestDatabase | undefined
  beforeEach(() => {
    vi.stubEnv('CLEW_SECRET', SECRET)
    folder = mkdtempSync(join(tmpdir(), 'clew-live-'))
  })
  afterEach(async () => {
    for (const page of pages.splice(0)) page.close()
    for (const server of served.splice(0)) await server.kill()
    await ledger.close()
    await database?.drop()
    database = undefined
    rmSync(folder, { recursive: true, force: true })
    vi.unstubAllEnvs()
  })
  const start = async (store: string): Promise<Served> => {
    const server = await serve(store)
    served.push(server)
    return server
  }
  const open = (server: Served, sessionId: string): SessionPage => {
    const page = openSessionPage(server.url, 'default', sessionId)
    pages.push(page)
    return page
  }

  it('T3 SQLite: a server killed in mid-stream and started again leaves no gap and nothing twice', async () => {
    const store = `sqlite:${join(folder, 'clew.db')}`
    ledger = await openLedger(store)
    const server = await start(store)
    const page = open(server, 's')
    await vi.waitFor(() => expect(page.fetches()).toBe(1), { timeout: 60_000 })
    let back: Promise<void> | undefined
    await writeSession(ledger, 's', 'general', 40, async (step) => {
      if (step === 12) {
        await hasSteps(page, 10)
        await server.kill()
        back = server.restart()
      }
      await sleep(5)
    })
    await back
    await vi.waitFor(() => expect(page.fetches()).toBeGreaterThan(1), { timeout: 60_000 })
    await assertShown(page, ledger, 's')
    expect(page.client.heard.length).toBeGreaterThan(10)
    // And it is live again, not only fetched.
    const later = open(server, 'next')
    await vi.waitFor(() => expect(later.fetches()).toBe(1), { timeout: 60_000 })
    await ledger.record(begin('next', 'general'))
    await vi.waitFor(() => expect(later.state().head?.status).toBe('running'), { timeout: 60_000 })
  })

  it('T7 a session whose process is dead ends on every page, without anybody asking', async () => {
    const store = `sqlite:${join(folder, 'clew.db')}`
    ledger = await openLedger(store)
    // As a process that died would leave it: its lease is held by an owner whose lock is free.
    const dead = await openLedger(store)
    const session = await new TraceEmitter({ ledger: dead }).forSession({
      sessionId: 's',
      streamId: 'general',
      persona: 'Owl',
    })
    await session.startStep({ stepType: 'thinking' })
    await dead.close()
    const server = await start(store)
    const page = open(server, 's')
    await vi.waitFor(() => expect(page.state().head?.status).toBe('interrupted'), { timeout: 60_000 })
    await assertShown(page, ledger, 's')
    expect(liveSteps(page.state()).map(({ status }) => status)).toEqual(['interrupted'])
  })

  it('T2 PostgreSQL: a session traced through one server is live on the other; killing either loses nothing', async () => {
    database = await createDatabase()
    ledger = await openLedger(database.url)
    const [a, b] = await Promise.all([start(database.url), start(database.url)])
    const page = open(b, 's')
    await vi.waitFor(() => expect(page.fetches()).toBe(1), { timeout: 60_000 })

    const emitter = new TraceEmitter({ server: a.url })
    const session = await emitter.forSession({ sessionId: 's', streamId: 'general', persona: 'Owl' })
    const acknowledged: string[] = []
    const think = async (text: string): Promise<void> => {
      const step = await session.startStep({ stepType: 'thinking' })
      acknowledged.push(step.stepId)
      step.progress({ content: `${text}, so far as it goes` })
      await step.complete({ content: text })
    }
    for (let i = 1; i <= 5; i++) await think(`thought ${i}`)
    await hasSteps(page, 5)
    expect(page.fetches()).toBe(1)

    // Progress crosses from one server to the other as well.
    const open1 = await session.startStep({ stepType: 'thinking' })
    open1.progress({ content: 'Owls hunt at night. Owls hear well.' })
    await page.client.hear((told) => told.name === STEP_PROGRESS && told.payload.stepId === open1.stepId)

    // Whoever listens for commits is cut off from the database, and hears of the rest all the same.
    await query(
      database.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ILIKE 'LISTEN%'`,
    )
    await open1.complete({ content: 'done' })
    await hasSteps(page, 6)

    await b.kill()
    for (let i = 6; i <= 10; i++) await think(`thought ${i}`)
    await b.restart()
    for (let i = 11; i <= 13; i++) await think(`thought ${i}`)

    const beforeDeath = await session.startStep({ stepType: 'thinking' })
    await a.kill()
    const goingOn = (async () => {
      // Sent while nobody answers, and again when somebody does.
      await beforeDeath.complete({ content: 'said to a dead server' })
      for (let i = 14; i <= 16; i++) await think(`thought ${i}`)
      await session.notifyCompleted()
    })()
    await a.restart()
    await goingOn

    const stored = (await ledger.getSteps('s')).map(({ stepId }) => stepId)
    expect(stored).toEqual(expect.arrayContaining(acknowledged))
    expect(new Set(stored).size).toBe(stored.length)
    // The death of the server was never taken for that of the agent.
    const interrupted = ledger.read('s', {
      types: ['system.workflow_interrupted', 'system.workflow_resumed'],
    })
    expect(await Array.fromAsync(interrupted)).toEqual([])
    await assertShown(page, ledger, 's')
    expect(page.state().head?.status).toBe('completed')
  })

  it('L7 PostgreSQL: events of many writers reach a page once, whatever order they commit in', async () => {
    database = await createDatabase()
    const { url } = database
    ledger = await openLedger(url)
    const server = await start(url)
    const page = open(server, 's')
    await vi.waitFor(() => expect(page.fetches()).toBe(1), { timeout: 60_000 })
    await ledger.record(begin('s', 'general'))
    const others = await Promise.all([openLedger(url), openLedger(url), openLedger(url)])
    await Promise.all(
      others.map(async (other, writer) => {
        for (let i = 0; i < 15; i++) {
          await other.record(stepBegins('s', `thinking#${writer}.${i}`))
          await other.record(stepEnds('s', `thinking#${writer}.${i}`, `thought ${i} of ${writer}`))
        }
      }),
    )
    await ledger.record(end('s'))
    await assertShown(page, ledger, 's')
    for (const other of others) await other.close()
    expect(page.fetches()).toBe(1)
  })
})
