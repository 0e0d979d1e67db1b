import { spawnSync } from 'node:child_process'
import { Command } from '@langchain/langgraph'
import type { Ledger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BIN } from '../../packages/clew/test/run-clew.ts'
import { startScript } from '../../packages/sqlite/test/start-child.ts'
import { approvals, thread } from './graphs.ts'
import { createStore } from './stores.ts'

const CHILD = new URL('approvals-child.ts', import.meta.url).pathname
const QUESTIONS = ['inside?', 'one?', 'two?']

/** Open questions by thread, of all runs that are listed as paused. */
async function listPaused(ledger: Ledger): Promise<Map<string, string[]>> {
  const asked = new Map<string, string[]>()
  let cursor: string | undefined
  do {
    const page = await ledger.listRuns({
      status: 'paused',
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    })
    for (const { threadId, parentRunId, pauses } of page.runs)
      if (parentRunId === null && threadId !== null)
        asked.set(threadId, pauses.map(({ question }) => String(question)).toSorted())
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return asked
}

describe.each(['sqlite', 'postgres'] as const)('R6 approvals in parallel branches on %s', (name) => {
  it('are all listed, whatever instant the process was killed at', async () => {
    const store = await createStore(name)
    onTestFinished(() => store.drop())
    const acknowledged: string[] = []
    let from = 0
    for (const lines of [0, 1, 5, 14, 30]) {
      const child = startScript(CHILD, store.url, from)
      for (let line = 0; line < lines; line++) acknowledged.push((await child.next()) as string)
      await child.kill()
      from += 1000
    }
    const ledger = await store.open()
    const paused = await listPaused(ledger)
    for (const threadId of acknowledged)
      expect([threadId, paused.get(threadId)]).toEqual([threadId, QUESTIONS])

    const { runs } = await ledger.listRuns({ limit: 500 })
    const threads = new Set(
      runs.flatMap(({ threadId, parentRunId }) => (parentRunId === null ? (threadId ?? []) : [])),
    )
    for (const threadId of threads) {
      // A new process: what it finds in the state is what the list says.
      const graph = approvals(new ClewSaver(await store.open()))
      const { tasks } = await graph.getState(thread(threadId))
      const open = tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => String(value)))
      expect([threadId, paused.get(threadId) ?? []]).toEqual([threadId, open.toSorted()])
      // A thread that was cut before its first checkpoint begins anew.
      const begun =
        (await graph.getState(thread(threadId))).config.configurable?.['checkpoint_id'] !== undefined
      if (open.length < 3) await graph.invoke(begun ? null : { lines: [] }, thread(threadId))
    }
    const again = await listPaused(ledger)
    for (const threadId of threads) expect([threadId, again.get(threadId)]).toEqual([threadId, QUESTIONS])

    const [first = ''] = acknowledged
    const graph = approvals(new ClewSaver(ledger))
    const { tasks } = await graph.getState(thread(first))
    const ids = tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => id))
    const { lines } = await graph.invoke(
      new Command({ resume: Object.fromEntries(ids.map((id) => [id, 'yes'])) }),
      thread(first),
    )
    expect(lines.filter((line) => line === 'yes')).toHaveLength(3)
    expect((await listPaused(ledger)).has(first)).toBe(false)
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  })

  it('are those that are still open, whatever instant the process was killed at that answered them', async () => {
    const store = await createStore(name)
    onTestFinished(() => store.drop())
    const asked = new Set<string>()
    const answered = new Set<string>()
    let from = 0
    for (const lines of [1, 9, 20, 33]) {
      const child = startScript(CHILD, store.url, from, 'answer')
      for (let line = 0; line < lines; line++) {
        const told = (await child.next()) as string
        if (told.startsWith('answered ')) answered.add(told.slice('answered '.length))
        else asked.add(told)
      }
      await child.kill()
      from += 1000
    }
    const ledger = await store.open()
    const paused = await listPaused(ledger)
    const rest = ['inside?', 'two?']
    for (const threadId of asked) {
      const open = paused.get(threadId) ?? []
      if (answered.has(threadId)) expect([threadId, open]).toEqual([threadId, rest])
      // The answer may have been committed, although the process was killed before it could say so.
      else expect([QUESTIONS, rest]).toContainEqual(open)
    }
    for (const threadId of asked) {
      const graph = approvals(new ClewSaver(await store.open()))
      const { runs } = await ledger.listRuns({ threadId, status: 'paused' })
      const pauses = runs.find(({ parentRunId }) => parentRunId === null)?.pauses ?? []
      const resume = Object.fromEntries(pauses.map(({ pauseId }) => [pauseId, 'yes']))
      const { lines } = await graph.invoke(new Command({ resume }), thread(threadId))
      expect([threadId, lines.filter((line) => line === 'yes').length]).toEqual([threadId, 3])
    }
    const left = await listPaused(ledger)
    for (const threadId of asked) expect([threadId, left.get(threadId)]).toEqual([threadId, undefined])
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  })

  it.each(['sync', 'async', 'exit'] as const)(
    'are listed no more once they are answered (%s)',
    async (durability) => {
      const store = await createStore(name)
      onTestFinished(() => store.drop())
      const config = { ...thread('t'), durability }
      await approvals(new ClewSaver(await store.open())).invoke({ lines: [] }, config)
      const ledger = await store.open()
      const asked = async () =>
        new Set(
          (await ledger.listRuns({ status: 'paused' })).runs.flatMap(({ pauses }) =>
            pauses.map(({ question }) => question),
          ),
        )
      expect(await asked()).toEqual(new Set(QUESTIONS))
      const graph = approvals(new ClewSaver(ledger))
      for (const question of QUESTIONS) {
        const { tasks } = await graph.getState(config)
        const open = tasks.flatMap(({ interrupts }) => interrupts).find(({ value }) => value === question)
        await graph.invoke(new Command({ resume: { [open?.id ?? '']: 'yes' } }), config)
      }
      expect(await asked()).toEqual(new Set())
      const { runs } = await ledger.listRuns()
      expect(new Set(runs.map(({ status }) => status))).toEqual(
        new Set(durability === 'exit' ? ['completed', 'stopped'] : ['completed']),
      )
      expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
    },
  )

  it('are listed no more where the thread goes on with new input', async () => {
    const store = await createStore(name)
    onTestFinished(() => store.drop())
    const ledger = await store.open()
    await approvals(new ClewSaver(ledger)).invoke({ lines: [] }, thread('t'))
    for (const saver of [new ClewSaver(ledger), new ClewSaver(await store.open())]) {
      const before = await ledger.listRuns({ status: 'paused' })
      await approvals(saver).invoke({ lines: ['something else'] }, thread('t'))
      for (const { runId } of before.runs) expect((await ledger.getRun(runId))?.status).toBe('stopped')
      const { runs } = await ledger.listRuns({ status: 'paused' })
      expect(runs.flatMap(({ pauses }) => pauses.map(({ question }) => String(question))).toSorted()).toEqual(
        ['inside?', ...QUESTIONS].toSorted(),
      )
    }
    expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  })

  it('`clew runs --status paused` has each of many, with default durability', async () => {
    const store = await createStore(name)
    onTestFinished(() => store.drop())
    const ledger = await store.open()
    const graph = approvals(new ClewSaver(ledger))
    const names = Array.from({ length: 60 }, (_, at) => `t${at}`)
    for (let at = 0; at < names.length; at += 6)
      await Promise.all(names.slice(at, at + 6).map((each) => graph.invoke({ lines: [] }, thread(each))))
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [BIN, 'runs', '--status', 'paused', '--limit', '500', '--json', '--store', store.url],
      { encoding: 'utf8' },
    )
    expect([status, stderr]).toEqual([0, ''])
    const { data } = JSON.parse(stdout) as {
      data: { runs: { threadId: string; parentRunId: string | null; pauses: { question: string }[] }[] }
    }
    const roots = data.runs.filter(({ parentRunId }) => parentRunId === null)
    expect(roots.map(({ threadId }) => threadId).toSorted()).toEqual(names.toSorted())
    for (const { pauses } of roots)
      expect(pauses.map(({ question }) => question).toSorted()).toEqual(QUESTIONS)
  })
})
