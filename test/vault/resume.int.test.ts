import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, fork, last, replay, type RunResult, START, StateGraph } from '@clew/runtime'
import { type Ledger, openLedger } from 'clew'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startScript } from '../../packages/sqlite/test/start-child.ts'
import { createSchema } from '../postgres/database.ts'
import { json, startServer, type TestServer } from '../tape/server.ts'
import { envAgent, envGraph, fetchAgent, type World } from './agents.ts'
import { optionsOf } from './options.ts'

const SCRIPT = new URL('child.ts', import.meta.url).pathname
// Put together here, so that no scanner takes this file for a leak.
const KEY = ['sk', 'ant', `api03-${'aB3dE5gH7jK9'.repeat(7)}AbCdEf-AA`].join('-')
const LINE = (word: string): string => `-----${word} PRIVATE KEY-----`
const PEM = [
  LINE('BEGIN'),
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  LINE('END'),
  '',
].join('\n')

let folder: string
let server: TestServer
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-vault-'))
  server = await startServer((_, response) => json(response, { key: KEY, pem: PEM }))
  writeFileSync(envFile(), `MODE=test\nAPI_KEY=${KEY}\n`)
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})
const envFile = (): string => join(folder, '.env')
const sqlite = (): string => `sqlite:${join(folder, 'clew.db')}`

/** A life of its own process, killed where it holds. */
async function killedLife(kind: string, store: string, vault: string): Promise<void> {
  const child = startScript(SCRIPT, kind, store, vault, envFile(), server.url)
  expect(await child.next()).toBe('holding')
  await child.kill()
}

/** The next life, in this process: the file and the server are gone by then. */
async function nextLife(
  kind: string,
  store: string,
  vault: string,
): Promise<{ result: RunResult; saw: unknown[] }> {
  writeFileSync(envFile(), 'gone')
  await server.close()
  const ledger = await openLedger(store, optionsOf(vault))
  const { world, saw } = living()
  const kinds: Readonly<Record<string, () => Promise<RunResult>>> = {
    function: () => envAgent(world).resume(ledger, 'r'),
    graph: () => envGraph(world, ledger).resume({ runId: 'r' }),
    fetch: () => fetchAgent(world).resume(ledger, 'r'),
  }
  try {
    const result = await (kinds[kind] as () => Promise<RunResult>)()
    expect((await ledger.verify(undefined, { projections: true })).problems).toEqual([])
    return { result, saw }
  } finally {
    await ledger.close()
  }
}

function living(): { world: World; saw: unknown[] } {
  const saw: unknown[] = []
  const world = {
    envFile: envFile(),
    url: server.url,
    hold: () => 'went on',
    saw: (value: unknown) => void saw.push(value),
  }
  return { world, saw }
}

/** Files of the store that hold a text. */
const holding = (text: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== '.env')
    .filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(text))
    .map(({ name }) => name)

describe('P2 a run that read a secret and was killed', () => {
  it.each([
    ['function', [KEY]],
    ['graph', [KEY, KEY]],
    ['fetch', [{ key: KEY, pem: PEM }]],
  ])('goes on with it from the vault, and no file of the store holds it: %s', async (kind, expected) => {
    await killedLife(kind, sqlite(), 'files')
    const { result, saw } = await nextLife(kind, sqlite(), 'files')
    expect([result.status, result.error]).toEqual(['completed', null])
    expect(saw).toEqual(expected)
    for (const text of [KEY, KEY.slice(20), 'MIIEvQIBADANBg']) expect(holding(text)).toEqual([])
    expect(holding('[redacted:').length).toBeGreaterThan(0)
  })

  it.each(['function', 'graph', 'fetch'])('is blocked as before without the vault: %s', async (kind) => {
    await killedLife(kind, sqlite(), 'off')
    for (const vault of ['off', 'files']) {
      const { result, saw } = await nextLife(kind, sqlite(), vault)
      expect([result.status, result.divergence?.kind, saw]).toEqual(['blocked', 'redacted', []])
    }
  })

  it('goes on with it on PostgreSQL with a key that was given', async () => {
    const place = await createSchema()
    try {
      const key = randomBytes(32).toString('hex')
      await killedLife('function', place.url, key)
      const without = await openLedger(place.url)
      const events = await Array.fromAsync(without.read('r', { restored: true }))
      expect(JSON.stringify(events)).not.toContain(KEY)
      await without.close()
      const { result, saw } = await nextLife('function', place.url, key)
      expect([result.status, saw]).toEqual(['completed', [KEY]])
    } finally {
      await place.drop()
    }
  })

  it('is refused with the id of a key that is not there, and goes on when it is', async () => {
    const [right, wrong] = [randomBytes(32).toString('hex'), { id: 'other', key: randomBytes(32) }]
    await killedLife('function', sqlite(), right)
    const ledger = await openLedger(sqlite(), { vault: wrong })
    const { world, saw } = living()
    await expect(envAgent(world).resume(ledger, 'r')).rejects.toMatchObject({
      code: 'bad_key',
      fields: { keyId: 'test', runId: 'r' },
    })
    await ledger.close()
    expect(saw).toEqual([])
    expect((await nextLife('function', sqlite(), right)).result.status).toBe('completed')
  })
})

describe('P2 with a vault', () => {
  const opened = async <T>(work: (ledger: Ledger) => Promise<T>): Promise<T> => {
    const ledger = await openLedger(sqlite(), { vault: true })
    try {
      return await work(ledger)
    } finally {
      await ledger.close()
    }
  }

  it('a run that recorded on after its resume is resumed with the secrets of both lives', async () => {
    const twice = (saw: unknown[]) =>
      agent('twice', async (run, input: { key: string }) => {
        const first = await run.interrupt<string>('First?')
        const second = await run.interrupt<string>('Second?')
        saw.push([input.key, first, second])
        return 'done'
      })
    const keys = [1, 2, 3].map((n) => `${KEY.slice(0, -9)}${n}bCdEf-AA`)
    const { warnings } = await opened((ledger) =>
      twice([]).start(ledger, { key: keys[0] as string }, { runId: 'r' }),
    )
    expect(warnings).toEqual([])
    await opened((ledger) => twice([]).resume(ledger, 'r', { answer: keys[1] }))
    const saw: unknown[] = []
    const end = await opened((ledger) => twice(saw).resume(ledger, 'r', { answer: keys[2] }))
    expect([end.status, saw]).toEqual(['completed', [keys]])
    for (const key of keys) expect(holding(key)).toEqual([])
  })

  it('replays, forks and what-ifs run with the secrets, and their reports and views have none', async () => {
    const { world } = living()
    await opened((ledger) => envAgent(world).start(ledger, null, { runId: 'r' }))
    writeFileSync(envFile(), 'gone')
    await opened(async (ledger) => {
      const again = living()
      const told: unknown[] = []
      const report = await replay(envAgent(again.world), {
        ledger,
        runId: 'r',
        onEvent: (event) => void told.push(event),
      })
      expect([report.verdict, report.divergences, again.saw]).toEqual(['identical', [], [KEY]])
      const forked = living()
      const branch = await fork(envAgent(forked.world), { ledger, runId: 'r', at: { step: 'hold' } })
      expect([branch.status, forked.saw]).toEqual(['completed', [KEY]])
      const leaky = agent('env', async (run) => {
        const text = await run.step('parse', null, async (_, inner) => {
          const all = await inner.effect('read file', '.env', () => '')
          return /^API_KEY=(.*)$/m.exec(all)?.[1] ?? ''
        })
        await run.effect('hold', null, () => '')
        return run.effect('use', { key: text, more: text }, () => 1)
      })
      const parted = await replay(leaky, { ledger, runId: 'r' })
      expect(parted.verdict).toBe('diverged')
      const blocked = await fork(leaky, { ledger, runId: 'r', at: { step: 'use' } })
      const views = [
        told,
        report,
        parted,
        blocked.divergence,
        await replay(null, { ledger, runId: 'r', mode: 'reconstruct' }),
        await ledger.transcript('r'),
        await ledger.timeline('r'),
        await ledger.getSteps('r'),
        await ledger.getState('r'),
        await Array.fromAsync(ledger.export()),
        await Array.fromAsync(ledger.follow({ live: false })),
        await ledger.search('redacted'),
      ]
      expect(JSON.stringify(views)).not.toContain(KEY.slice(20))
    })
    expect(holding(KEY)).toEqual([])
  })

  it('a child run and a cached result are given back whole, an error as live code sees it', async () => {
    const child = agent('child', async (run) => ({ key: await run.effect('key', null, () => KEY) }))
    const failing = agent('failing', async () => {
      throw new Error(`refused ${KEY}`)
    })
    const live: unknown[] = []
    const parent = (saw: unknown[], isFirst: boolean) =>
      agent('parent', async (run) => {
        const own = await run.child(child, null)
        const error = await run.child(failing, null).catch((thrown: Error) => thrown.message)
        live.push(error)
        const kept = await run.effect('kept', null, () => ({ key: isFirst ? KEY : 'another' }), {
          cache: true,
        })
        await run.interrupt('Go on?')
        saw.push([own.key, error, kept.key])
        return null
      })
    await opened((ledger) => parent([], true).start(ledger, null, { runId: 'a' }))
    const saw: unknown[] = []
    await opened((ledger) => parent(saw, false).resume(ledger, 'a', { answer: 1 }))
    await opened((ledger) => parent([], false).start(ledger, null, { runId: 'b' }))
    await opened((ledger) => parent(saw, false).resume(ledger, 'b', { answer: 1 }))
    expect(live[0]).toMatch(/^refused \[redacted:anthropic-key:/)
    expect(saw).toEqual([
      [KEY, live[0], KEY],
      [KEY, live[0], KEY],
    ])
    expect(holding(KEY)).toEqual([])
  })

  it('items of a map and the next turn of a thread go on with them', async () => {
    const mapped = (saw: unknown[], holds: boolean) =>
      agent('mapped', async (run, input: { n: number }) => {
        const key = await run.effect('key', input.n, () => KEY)
        if (holds && input.n === 2) await run.interrupt('Go on?')
        saw.push(key)
        return { key }
      })
    const items = [{ n: 1 }, { n: 2 }]
    const first = await opened((ledger) => mapped([], true).map(ledger, items, { runId: 'm' }))
    const [pause] = first.items.flatMap(({ pauses }) => pauses)
    const saw: unknown[] = []
    const done = await opened((ledger) =>
      mapped(saw, true).map(ledger, items, { runId: 'm', answers: { [pause?.pauseId ?? '']: 1 } }),
    )
    expect([done.status, saw, done.items.map(({ output }) => output)]).toEqual([
      'completed',
      [KEY],
      [{ key: KEY }, { key: KEY }],
    ])
    const turns = (ledger: Ledger, seen: unknown[]) =>
      new StateGraph({ key: last(''), size: last(0) })
        .addNode('use', ({ key }) => void seen.push(key))
        .addEdge(START, 'use')
        .compile({ name: 'turns', checkpointer: ledger })
    const seen: unknown[] = []
    await opened((ledger) => turns(ledger, seen).invoke({ key: KEY }, { threadId: 't' }))
    await opened(async (ledger) => {
      const graph = turns(ledger, seen)
      expect((await graph.getState({ threadId: 't' }))?.state.key).toMatch(/^\[redacted:/)
      await graph.invoke({ size: 7 }, { threadId: 't' })
    })
    expect(seen).toEqual([KEY, KEY])
    expect(holding(KEY)).toEqual([])
  })

  it('an update of the state, a fork and a retry of a graph carry them on to new events', async () => {
    const graphOf = (ledger: Ledger, saw: unknown[], fails: boolean) =>
      new StateGraph({ key: last(''), other: last(''), size: last(0) })
        .addNode('read', () => ({ key: KEY }))
        .addNode('beside', () => ({ other: `use ${KEY}` }))
        .addNode('fail', () => {
          if (fails) throw new Error('not yet')
          return {}
        })
        .addNode('use', ({ key, other, size }) => void saw.push([key, other, size]))
        .addEdge(START, 'read')
        .addEdge('read', 'beside')
        .addEdge('read', 'fail')
        .addEdge(['beside', 'fail'], 'use')
        .compile({ name: 'carried', checkpointer: ledger, interruptBefore: ['use'] })
    const saw: unknown[] = []
    await opened((ledger) => graphOf(ledger, [], true).invoke({}, { runId: 'r', threadId: 't' }))
    const retried = await opened((ledger) => graphOf(ledger, [], false).retry({ runId: 'r' }))
    expect(retried.status).toBe('paused')
    await opened((ledger) => graphOf(ledger, [], false).updateState({ threadId: 't' }, { size: 3 }))
    await opened((ledger) => graphOf(ledger, saw, false).invoke(null, { threadId: 't' }))
    await opened((ledger) =>
      graphOf(ledger, saw, false).fork({
        runId: retried.runId,
        update: { size: 4 },
        asNode: 'read',
        run: false,
      }),
    )
    expect(saw).toEqual([[KEY, `use ${KEY}`, 3]])
    expect(holding(KEY)).toEqual([])
    const { problems } = await opened((ledger) => ledger.verify(undefined, { projections: true }))
    expect(problems).toEqual([])
  })
})
