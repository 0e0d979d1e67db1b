/**
 * Five hundred documents, some of them difficult, eight at a time. The process is killed after two hundred; the next one
 * does what is missing. Five stay broken: they are mended, and only they are done again.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { last, type Ledger, openLedger, START, StateGraph } from 'clew'

const COUNT = 500
const CONCURRENCY = 8
const documents = Array.from({ length: COUNT }, (_, n) => ({ name: `document ${n}` }))
const numberOf = (name: string): number => Number(name.split(' ')[1])

function summaries(ledger: Ledger, folder: string) {
  return new StateGraph({ name: last(''), text: last(''), words: last(0) })
    .addNode('fetch', async ({ name }, run) => ({
      text: await run.effect(
        'fetch',
        { name },
        async ({ name }, { attempt }) => {
          await setTimeout(1)
          const n = numberOf(name)
          if (n % 10 === 3 && attempt === 1) throw new Error('the connection was lost')
          if (n % 100 === 77 && !existsSync(join(folder, 'mended'))) throw new Error('this is no document')
          appendFileSync(join(folder, 'fetched.txt'), `${name}\n`)
          return `The text of ${name}, ${'word '.repeat(n % 50)}end.`
        },
        { retry: { tries: 2, delayMs: 2 } },
      ),
    }))
    .addNode('count', ({ text }) => ({ words: text.split(' ').length }))
    .addEdge(START, 'fetch')
    .addEdge('fetch', 'count')
    .compile({ checkpointer: ledger, name: 'summaries' })
}

if (process.argv[2] === 'worker') {
  const folder = process.argv[3] ?? ''
  const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
  await summaries(ledger, folder).map(documents, {
    runId: 'library',
    concurrency: CONCURRENCY,
    onProgress: ({ done }) => process.send?.(done),
  })
} else await story()

async function story(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-map-'))
  try {
    const worker = fork(import.meta.filename, ['worker', folder])
    worker.on('message', (done: number) => done >= 200 && worker.kill('SIGKILL'))
    const [, signal] = (await once(worker, 'close')) as [number | null, string | null]
    assert.equal(signal, 'SIGKILL')

    const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
    const graph = summaries(ledger, folder)
    const fetched = (): string[] => readFileSync(join(folder, 'fetched.txt'), 'utf8').trim().split('\n')
    console.log(`killed after ${fetched().length} documents`)

    const result = await graph.map(documents, { runId: 'library', concurrency: CONCURRENCY })
    console.log(`\n${result.table()}\n`)
    assert.equal(result.status, 'partial', 'some failed, the others are done')
    assert.deepEqual(
      result.errors().map(({ index, error }) => [index, error?.message]),
      [77, 177, 277, 377, 477].map((n) => [n, 'this is no document']),
    )
    assert.equal(result.column('words')[49], 55)

    // Only what was under way when the process died is fetched twice.
    const twice = fetched().length - new Set(fetched()).size
    const restored = result.items.filter((item) => item.restored).length
    console.log(`${restored} documents restored, ${twice} that were under way fetched again`)
    assert.ok(restored >= 195 && twice <= CONCURRENCY)

    // The difficult ones took two attempts, and their logs say so.
    assert.deepEqual(
      result.items[493]?.log?.steps.map(({ nodeName, status }) => `${nodeName} ${status}`),
      ['fetch failed', 'fetch completed', 'fetch completed', 'count completed'],
    )

    writeFileSync(join(folder, 'mended'), '')
    const before = fetched().length
    const again = await graph.map(documents, { retryOf: 'library', concurrency: CONCURRENCY })
    console.log(`after mending: ${again.summary()}`)
    assert.equal(again.status, 'completed')
    assert.equal(fetched().length - before, 5)
    assert.equal((await ledger.verify()).ok, true)
    await ledger.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
