/**
 * A web shop in which every order is a run. The application only submits, signals, answers and reads; two worker processes
 * do the work, and are killed while an order waits for the warehouse, after a note was received, and both at once.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger, setQueue } from 'clew'
import { createBrowser } from './web-app/browser.ts'
import { checkRecord } from './web-app/check-record.ts'
import { createShop } from './web-app/create-shop.ts'
import { listen } from './web-app/listen.ts'
import { createWarehouse } from './web-app/warehouse.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-web-app-'))
const url = `sqlite:${join(folder, 'clew.db')}`
const ledger = await openLedger(url)
const warehouse = createWarehouse()
const warehouseServer = await listen(warehouse.app)
const shopServer = await listen(createShop(ledger, warehouseServer.url))
const browser = createBrowser(shopServer.url)

const workers = new Map<number, { readonly name: number; readonly process: ChildProcess }>()
const killed = new Set<number>()
let names = 0

function startWorkers(count: number): void {
  for (let i = 0; i < count; i++) {
    const name = ++names
    const process = fork(join(import.meta.dirname, 'web-app/worker.ts'), [url, `${name}`])
    workers.set(process.pid ?? 0, { name, process })
  }
}

async function kill(pid: number): Promise<void> {
  const worker = workers.get(pid)
  assert.ok(worker, `no worker has the pid ${pid}`)
  workers.delete(pid)
  killed.add(pid)
  process.kill(pid, 'SIGKILL')
  await once(worker.process, 'close')
  console.log(`✗ worker ${worker.name} is killed`)
}

async function story(): Promise<void> {
  await setQueue(ledger, 'orders', { concurrency: 6, concurrencyPerKey: 2 })

  console.log('Four orders come in. No worker is there yet.')
  const mug = { orderId: 'ann-1', customer: 'ann', item: 'mug', euros: 20 }
  assert.equal((await browser.post('/orders', mug)).status, 202)
  assert.equal((await browser.post('/orders', mug)).status, 202, 'the button was pressed twice: one order')
  assert.equal((await browser.post('/orders', { ...mug, item: 'jug' })).status, 409)
  await browser.post('/orders', { orderId: 'ann-2', customer: 'ann', item: 'clock', euros: 900 })
  await browser.post('/orders', { orderId: 'bob-1', customer: 'bob', item: 'pen', euros: 40 })
  await browser.post('/orders', {
    orderId: 'bob-2',
    customer: 'bob',
    item: 'ring',
    euros: 700,
    express: true,
  })

  console.log('\nTwo workers start. The one that reserves the mug dies while the warehouse thinks.')
  const reserving = warehouse.holdNext('ann-1', 'reserve')
  startWorkers(2)
  await kill((await reserving).pid)
  startWorkers(1)
  const seen = await browser.watch('ann-1', {
    until: ({ what, step }) => what === 'execution.step_completed' && step === 'reserve#0',
  })
  console.log(`the browser has seen ${seen.length} events of ann-1; the mug is reserved. It closes.`)

  console.log('\nBob writes what the pen shall say. The worker that received the note dies engraving it.')
  const engraving = warehouse.holdNext('bob-1', 'engrave')
  const note = { id: 'note-1', text: 'For Eve', isLast: false }
  await browser.post('/orders/bob-1/notes', note)
  await browser.post('/orders/bob-1/notes', note) // its reply was lost: it counts once
  await kill((await engraving).pid)
  startWorkers(1)
  await browser.post('/orders/bob-1/notes', { id: 'note-2', text: 'from Bob', isLast: true })

  console.log('\nThen no worker is left. Notes are kept all the same.')
  for (const pid of workers.keys()) await kill(pid)
  assert.equal(
    (await browser.post('/orders/ann-1/notes', { id: 'a', text: 'Tea', isLast: false })).status,
    200,
  )
  await browser.post('/orders/ann-1/notes', { id: 'b', text: 'time', isLast: true })
  assert.equal((await browser.post('/orders/ann-1/notes', { id: 'c', text: 7, isLast: true })).status, 400)
  for (const order of ['ann-2', 'bob-2'])
    await browser.post(`/orders/${order}/notes`, { id: 'only', text: 'Carpe diem', isLast: true })

  console.log('\nTwo new workers start. What is dear is asked about.')
  startWorkers(2)
  for (const [order, approve] of [
    ['ann-2', true],
    ['bob-2', false],
  ] as const) {
    const { question } = await browser.waitFor(order, ({ question }) => question !== undefined)
    assert.equal((await browser.post(`/orders/${order}/answer`, { approve: 'sure' })).status, 400)
    assert.equal((await browser.post(`/orders/${order}/answer`, { approve, by: 'eve' })).status, 200)
    console.log(`${question} Eve says ${approve ? 'yes' : 'no'}.`)
  }

  console.log()
  const orders = ['ann-1', 'ann-2', 'bob-1', 'bob-2']
  for (const order of orders) {
    const { status, output } = await browser.waitFor(order, ({ status }) => status === 'completed')
    console.log(`${order}: ${status}, ${JSON.stringify(output)}`)
  }
  const late = await browser.post('/orders/bob-1/notes', { id: 'late', text: 'stop!', isLast: true })
  assert.equal(late.status, 409, 'the order has ended')

  // The browser comes back, names the last event it saw, and misses none.
  const rest = await browser.watch('ann-1', { lastSeq: seen.at(-1)?.seq })
  const { events } = (await ledger.getRun('ann-1')) ?? { events: 0 }
  assert.deepEqual(
    [...seen, ...rest].map(({ seq }) => seq),
    Array.from({ length: events }, (_, i) => i + 1),
  )

  const { effects, signals } = await checkRecord(ledger, orders)
  assert.deepEqual([signals, effects], [6, 13])
  assert.equal(warehouse.done.size, effects, 'the warehouse did each task once')
  for (const { pid } of warehouse.repeated)
    assert.ok(killed.has(pid), 'only what a dead worker asked is asked again')
  assert.equal(killed.size, 4)
  console.log(
    `\n${killed.size} workers were killed. ${orders.length} orders ended once, ${signals} notes were received once, ` +
      `${effects} tasks were done once; ${warehouse.repeated.length} of them had been asked for by a worker that died.`,
  )
}

try {
  await story()
} finally {
  for (const { process } of workers.values()) {
    const ended = once(process, 'exit')
    process.disconnect()
    await ended
  }
  await shopServer.close()
  await warehouseServer.close()
  await ledger.close()
  rmSync(folder, { recursive: true, force: true })
}
