/**
 * Proves D2 and D5: code that a replay or a blocked resume gives up is unwound. Its signal aborts, the calls it waits for
 * are rejected, its `finally` blocks run, and the process ends by itself.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Ledger } from '@clew/ledger'
import { agent, append, replay, type Run, START, StateGraph } from '@clew/runtime'
import { openLedger } from 'clew'
import { describe, expect, it, vi } from 'vitest'
import { watch } from './unchanged-lives.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Far from the 600 s of the timer, and far from the second or two that a process needs. */
const MAX_LIFE_MS = 300_000

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
}

async function life(args: readonly string[], cwd = ROOT, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  // A test in a process of vitest is not one of node:test.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const child = spawn(process.execPath, ['--conditions=@clew/source', ...args], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  const limit = setTimeout(() => child.kill('SIGKILL'), MAX_LIFE_MS)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(limit)
  return { code, signal, stdout }
}

describe.concurrent('D2 a process that replayed changed code', () => {
  it.each(['effect', 'branches', 'body', 'child', 'pause', 'node', 'fetch', 'tries again for ever'])(
    'ends by itself, though the code holds a timer of 600 s: %s',
    async (name) => {
      const { code, signal, stdout } = await life([join(import.meta.dirname, 'given-up-child.ts'), name])
      expect([stdout.trim(), signal, code]).toEqual(['"diverged"', null, 0])
    },
  )

  const module = (prompt: string): string => `
    import { agent } from '${pathToFileURL(join(ROOT, 'packages/clew/src/index.ts')).href}'
    export const a = agent('a', async (run) => {
      const timer = setTimeout(() => {}, 600_000)
      try { await run.effect('recorded', null, () => 1); return await run.effect('${prompt}', null, () => 1) } finally { clearTimeout(timer) }
    })`

  async function inFolder<T>(work: (folder: string, store: string) => Promise<T>): Promise<T> {
    mkdirSync(join(ROOT, 'test/.tmp-docs'), { recursive: true })
    const folder = mkdtempSync(join(ROOT, 'test/.tmp-docs/given-up-'))
    const store = `sqlite:${join(folder, 'clew.db')}`
    try {
      writeFileSync(join(folder, 'a.ts'), module('other'))
      const ledger = await openLedger(store)
      const recorded = agent('a', (run) => run.effect('recorded', null, () => 1))
      await recorded.start(ledger, null, { runId: 'r' })
      writeFileSync(join(folder, 'r.ndjson'), (await Array.fromAsync(ledger.export({ runId: 'r' }))).join(''))
      await ledger.close()
      return await work(folder, store)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it('D5 ends by itself: clew replay', () =>
    inFolder(async (folder, store) => {
      const bin = join(ROOT, 'packages/clew/bin/clew.mjs')
      const ended = await life([bin, 'replay', 'r', '--agent', './a.ts'], folder, { CLEW_STORE: store })
      expect([ended.signal, ended.code]).toEqual([null, 1])
    }))

  it('D5 ends by itself: node --test', () =>
    inFolder(async (folder) => {
      const testing = pathToFileURL(join(ROOT, 'packages/clew/src/testing.ts')).href
      writeFileSync(
        join(folder, 'a.test.ts'),
        `import { test } from 'node:test'
         import { expectReplay } from '${testing}'
         import { a } from './a.ts'
         test('as recorded', async () => { await expectReplay(a, '${join(folder, 'r.ndjson')}') })`,
      )
      const ended = await life(['--test', join(folder, 'a.test.ts')], folder)
      expect([ended.signal, ended.code]).toEqual([null, 1])
      expect(ended.stdout).toContain('fail 1')
    }))
})

/** What code that is given up comes to see. */
interface Seen {
  readonly said: string[]
  signal?: AbortSignal
}

/** Says what its call was rejected with, and that it was unwound. */
async function unwinding(run: Run, what: string, seen: Seen, place = what): Promise<unknown> {
  seen.signal ??= run.signal
  // One call more than the record has: nothing can be given back for that.
  const recorded = await run.effect('recorded', place === 'right', () => 1)
  // A body that has ended is not entered again by a resume: what is to change must not have come to its end.
  if (what === 'recorded, asks') return run.interrupt('Go on?')
  if (what.startsWith('recorded')) return recorded
  try {
    return await run.effect(what, null, () => seen.said.push(`${place} executed`))
  } catch (error) {
    seen.said.push(`${place} ${(error as Error).name}`)
    throw error
  } finally {
    seen.said.push(`${place} finally`)
  }
}

type Code = (run: Run, what: string, seen: Seen) => Promise<unknown>
interface Form {
  readonly code: Code
  readonly said: readonly string[]
  /** What it did when it was recorded to pause: default all that is recorded. */
  readonly paused?: string
}
const FORMS: Readonly<Record<string, Form>> = {
  'a function': {
    code: (run, what, seen) => unwinding(run, what, seen),
    said: ['other AbortError', 'other finally'],
  },
  'branches at once': {
    code: (run, what, seen) =>
      Promise.all([unwinding(run, what, seen, 'left'), unwinding(run, `${what} too`, seen, 'right')]),
    said: ['left AbortError', 'left finally', 'right AbortError', 'right finally'],
  },
  'a body': {
    code: (run, what, seen) =>
      run.step('body', null, (_, inner) => unwinding(inner, what, seen)).finally(() => seen.said.push('top')),
    said: ['other AbortError', 'other finally', 'top'],
    paused: 'recorded, asks',
  },
  'a child': {
    code: (run, what, seen) =>
      run
        .child(
          agent('kid', (own) => unwinding(own, what, seen)),
          null,
        )
        .finally(() => seen.said.push('top')),
    said: ['other AbortError', 'other finally', 'top'],
    paused: 'recorded, asks',
  },
  'what calls again while it is unwound': {
    code: async (run, what, seen) => {
      try {
        return await unwinding(run, what, seen)
      } finally {
        await run
          // With another input than the changed call, which could else pass for a renamed one.
          .effect('clean up', what, () => seen.said.push('cleaned up'))
          .catch((error: Error) => seen.said.push(`refused ${error.name}`))
      }
    },
    said: ['other AbortError', 'other finally', 'refused AbortError'],
  },
}

/** Everything but the verdict happens while the call is awaited or right after it. */
const settled = (seen: Seen, said: readonly string[]): Promise<void> =>
  vi.waitFor(() => expect(seen.said.toSorted()).toEqual(said.toSorted()), { timeout: 60_000 })

describe.concurrent.each(Object.entries(FORMS))(
  'D2 code that is given up, %s',
  (_, { code, said, paused = 'recorded' }) => {
    const open = (): Promise<Ledger> => openLedger('memory:')

    it('is unwound after a diverged replay, and neither executes nor writes anything', async () => {
      const ledger = await open()
      const seen: Seen = { said: [] }
      const of = (what: string, to: Seen) => agent('a', (run) => code(run, what, to))
      const { runId } = await of('recorded', { said: [] }).start(ledger, null)
      const { verdict } = await replay(of('other', seen), {
        ledger: watch(ledger).ledger,
        runId,
        graceMs: 30,
      })
      expect(verdict).toBe('diverged')
      await settled(seen, said)
      expect(seen.signal?.aborted).toBe(true)
      await ledger.close()
    })

    it('is unwound as the node of a graph', async () => {
      const ledger = await open()
      const seen: Seen = { said: [] }
      const of = (what: string, to: Seen) =>
        new StateGraph({ log: append<string>() })
          .addNode('work', async (__, run) => ({ log: String(await code(run, what, to)) }))
          .addEdge(START, 'work')
          .compile({ checkpointer: ledger, name: 'a' })
      const { runId } = await of('recorded', { said: [] }).invoke({})
      expect((await replay(of('other', seen), { ledger, runId, graceMs: 30 })).verdict).toBe('diverged')
      await settled(seen, said)
      await ledger.close()
    })

    it('is unwound after a resume that was blocked', async () => {
      const ledger = await open()
      const seen: Seen = { said: [] }
      const of = (what: string, to: Seen) =>
        agent('a', async (run) => {
          await code(run, what, to)
          return run.interrupt('And now?')
        })
      const { runId } = await of(paused, { said: [] }).start(ledger, null)
      const { status } = await of('other', seen).resume(ledger, runId, { answer: 1 })
      expect(status).toBe('blocked')
      await settled(seen, said)
      await ledger.close()
    })
  },
)

describe('D1 code whose record ends before it', () => {
  it('is unwound when the replay of a paused run is over', async () => {
    const ledger = await openLedger('memory:')
    const seen: Seen = { said: [] }
    const asks = agent('asks', async (run) => {
      try {
        return await run.interrupt('Go on?')
      } finally {
        seen.said.push('finally')
      }
    })
    const { runId } = await asks.start(ledger, null)
    seen.said.length = 0
    expect((await replay(asks, { ledger, runId, graceMs: 30 })).verdict).toBe('identical')
    await settled(seen, ['finally'])
    await ledger.close()
  })
})
