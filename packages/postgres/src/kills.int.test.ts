import { expect, it } from 'vitest'
import { type ForeignType, foreignType, type RecordInput } from '@clew/ledger'
import { openLedger } from '../test/harness.ts'
import { withChildren } from '../test/with-children.ts'

const here = withChildren()

const note = (runId: string, n: number): RecordInput<ForeignType> => ({
  eventType: foreignType('execution.note'),
  correlationId: runId,
  payload: { n },
})

it('L5 nothing that a killed writer was told is lost, nothing is there twice, and the chain verifies', async () => {
  const told = new Set<number>()
  for (let round = 0; round < 4; round++) {
    const child = here.start('write', 'r', round * 100_000)
    for (let answers = 0; answers < 20 + round * 7; answers++) told.add((await child.next()) as number)
    await child.kill('SIGKILL')
    // What it said between the last answer and its end lies in the pipe.
    for (let more: unknown = 0; more !== undefined; ) {
      more = await child.next().catch(() => undefined)
      if (more !== undefined) told.add(more as number)
    }
  }
  const ledger = await openLedger(here.database.url)
  const found = (await Array.fromAsync(ledger.read('r'))).map((event) => event.payload['n'] as number)
  expect(new Set(found).size).toBe(found.length)
  expect([...told].filter((n) => !found.includes(n))).toEqual([])
  expect(await ledger.verify('r', { projections: true })).toMatchObject({ ok: true, checked: found.length })
  await ledger.close()
})

it('L5 L7 connections that are ended amid appends lose nothing, double nothing and leave followers no gap', async () => {
  const ledger = await openLedger(here.database.url)
  const followed: number[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const event of ledger.follow({ signal: stop.signal }))
      followed.push(event.payload['n'] as number)
  })()
  let ended = 0
  let isDone = false
  const ending = (async () => {
    while (!isDone) {
      const rows = await here.database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'clew'`,
      )
      ended += rows.length
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
  })()
  const acknowledged: number[] = []
  for (let n = 0; n < 600 || ended < 40; n += 6)
    await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        await ledger.record(note(`r${i % 3}`, n + i))
        acknowledged.push(n + i)
      }),
    )
  isDone = true
  await ending
  const count = acknowledged.length
  await expect.poll(() => followed.length, { timeout: 60_000 }).toBe(count)
  stop.abort()
  await following
  expect(followed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n))
  expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, checked: count })
  await ledger.close()
})
