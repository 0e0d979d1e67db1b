/**
 * Refunds that a person has to allow. The question outlives the process that asked; no answer in time means no; and when
 * a process dies while money is on its way, nobody guesses: a person is asked what became of it.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { append, END, last, type Ledger, openLedger, type Question, START, StateGraph } from 'clew'

interface Verdict {
  readonly approve: boolean
  readonly reason?: string
}

const VERDICT = {
  type: 'object',
  required: ['approve'],
  properties: { approve: { type: 'boolean' }, reason: { type: 'string', maxLength: 200 } },
}

/** `answerWithinMs`: how long a question may stay open. */
function refunds(ledger: Ledger, folder: string, answerWithinMs = 3_600_000) {
  return new StateGraph({
    order: last(''),
    euros: last(0),
    letter: last(''),
    verdict: last<Verdict>({ approve: false }),
    done: append<string>(),
  })
    .addNode('draft', ({ order, euros }) => ({ letter: `We refund ${euros} euros for order ${order}.` }))
    .addNode('approval', async ({ letter, euros }, run) => ({
      verdict: await run.interrupt<Verdict>({
        question: `Send "${letter}" and pay ${euros} euros?`,
        schema: VERDICT,
        timeoutMs: answerWithinMs,
        default: { approve: false, reason: 'nobody answered' },
      }),
    }))
    .addNode('pay', async ({ order, euros }, run) => {
      const receipt = await run.effect(
        'bank transfer',
        { order, euros },
        ({ order, euros }, { idempotencyKey }) => {
          appendFileSync(join(folder, 'bank.txt'), `${order} ${euros} ${idempotencyKey}\n`)
          // The money has left, the receipt has not arrived: the worst moment to die.
          if (process.argv[4] === 'dies') process.kill(process.pid, 'SIGKILL')
          return `receipt for ${order}`
        },
        { safety: 'write' },
      )
      return { done: receipt }
    })
    .addNode('decline', ({ verdict }) => ({ done: `declined: ${verdict.reason ?? 'no reason given'}` }))
    .addEdge(START, 'draft')
    .addEdge('draft', 'approval')
    .addConditionalEdges('approval', ({ verdict }) => (verdict.approve ? 'pay' : 'decline'), [
      'pay',
      'decline',
    ])
    .addEdge('pay', END)
    .addEdge('decline', END)
    .compile({ checkpointer: ledger, name: 'refunds' })
}

if (process.argv[2] === 'worker') {
  const folder = process.argv[3] ?? ''
  const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
  const graph = refunds(ledger, folder)
  if (process.argv[4] === 'dies') await graph.resume({ threadId: 'order-8' }, { answer: { approve: true } })
  else
    for (const [order, euros] of Object.entries({ 7: 20, 8: 35, 9: 900 }))
      await graph.invoke({ order, euros }, { threadId: `order-${order}` })
  await ledger.close()
} else await story()

async function story(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-approval-'))
  const inAnotherProcess = (...args: readonly string[]) =>
    spawnSync(process.execPath, [...process.execArgv, import.meta.filename, 'worker', folder, ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  const bank = (): string[] =>
    readFileSync(join(folder, 'bank.txt'), 'utf8').trim().split('\n').filter(Boolean)
  writeFileSync(join(folder, 'bank.txt'), '')
  try {
    assert.equal(inAnotherProcess().status, 0)
    const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
    const graph = refunds(ledger, folder)
    console.log(graph.draw())

    // The process that asked is gone; its questions are not.
    const { runs } = await ledger.listRuns({ status: 'paused' })
    for (const { threadId, pauses } of runs)
      for (const { question } of pauses) console.log(`${threadId}: ${(question as Question).question}`)
    assert.equal(runs.length, 3)

    await assert.rejects(graph.resume({ threadId: 'order-7' }, { answer: 'sure' }), { code: 'bad_answer' })
    const paid = await graph.resume({ threadId: 'order-7' }, { answer: { approve: true }, by: 'ann' })
    console.log(`\norder 7: ${paid.status}, ${paid.state.done.join()}`)
    assert.deepEqual(paid.state.done, ['receipt for 7'])
    await assert.rejects(graph.resume({ threadId: 'order-7' }, { answer: { approve: true } }), {
      code: 'not_resumable',
    })

    const no = { approve: false, reason: 'too much for one order' }
    const declined = await graph.resume({ threadId: 'order-9' }, { answer: no, by: 'ann' })
    console.log(`order 9: ${declined.status}, ${declined.state.done.join()}`)
    assert.deepEqual(declined.state.done, ['declined: too much for one order'])

    const hasty = refunds(ledger, folder, 30)
    const asked = await hasty.invoke({ order: '10', euros: 5 }, { threadId: 'order-10' })
    assert.equal(asked.status, 'paused')
    await setTimeout(60)
    const late = await hasty.resume({ threadId: 'order-10' })
    console.log(`order 10: ${late.status}, ${late.state.done.join()}`)
    assert.deepEqual(late.state.done, ['declined: nobody answered'])

    // Order 8: the process dies between the transfer and its receipt.
    assert.equal(inAnotherProcess('dies').signal, 'SIGKILL')
    assert.equal(bank().length, 2)
    const unsure = await graph.resume({ threadId: 'order-8' })
    console.log(`\norder 8: ${unsure.status},`, unsure.pause?.question)
    assert.equal(unsure.status, 'paused')
    const settled = await graph.resume(
      { threadId: 'order-8' },
      { answer: { choice: 'done', output: 'receipt for 8, found at the bank' }, by: 'ann' },
    )
    console.log(`order 8: ${settled.status}, ${settled.state.done.join()}`)
    assert.deepEqual(settled.state.done, ['receipt for 8, found at the bank'])
    assert.equal(bank().length, 2, 'nothing was paid twice')

    console.log('\nwho decided what:')
    for (const { runId } of (await ledger.listRuns()).runs.toReversed())
      for await (const { payload } of ledger.read(runId, { types: ['ui.input_received'] }))
        console.log(
          `  ${((payload['by'] as string | undefined) ?? 'somebody').padEnd(8)} ${JSON.stringify(payload['answer'])}`,
        )
    assert.equal((await ledger.verify()).ok, true)
    await ledger.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
