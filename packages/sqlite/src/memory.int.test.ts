import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { openLedger } from '../test/harness.ts'
import { withChildren } from '../test/with-children.ts'

const here = withChildren()
const name = { layer: 'long', scope: 'workspace', namespace: 'n', key: 'k' } as const

it('M1 a ledger that may only be read folds the memory runs that no reader has folded', async () => {
  const ledger = openLedger(here.file)
  await ledger.memory.put({ ...name, value: 'about owls' })
  const reading = openLedger(here.file, { readOnly: true })
  expect((await reading.memory.get(name))?.value).toBe('about owls')
  expect((await reading.memory.search('owls')).map(({ item }) => item.key)).toEqual(['k'])
  await ledger.memory.list()
  await ledger.memory.put({ ...name, key: 'l', value: 'about foxes' })
  expect((await reading.memory.list()).items.map(({ key }) => key)).toEqual(['k', 'l'])
  expect((await reading.memory.context({ query: 'foxes', budgetTokens: 100 })).items[0]?.key).toBe('l')
  await reading.close()
  await ledger.close()
})

it('M1 rows of another version of the fold are made again', async () => {
  const ledger = openLedger(here.file)
  for (const key of ['a', 'b', 'c']) await ledger.memory.put({ ...name, key, value: key })
  expect((await ledger.memory.list()).items).toHaveLength(3)
  const db = new DatabaseSync(here.file)
  db.exec(
    "UPDATE memory_scopes SET version = 0; DELETE FROM memory_items WHERE key = 'a'; UPDATE memory_items SET seq = 77",
  )
  db.close()
  expect((await ledger.memory.list()).items.map(({ key, version }) => [key, version])).toEqual([
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ])
  await ledger.close()
})

it('P5 no word of a row that was removed is left in the file', async () => {
  const ledger = openLedger(here.file)
  const word = 'xylocopa'
  // Its words only, for the payload is erased by others.
  await ledger.memory.put({ ...name, value: `about ${word.toUpperCase()}` })
  for (let n = 0; n < 50; n++) await ledger.memory.put({ ...name, key: `k${n}`, value: `about bees ${n}` })
  expect(await ledger.memory.search(word)).toHaveLength(1)
  const db = new DatabaseSync(here.file)
  const count = (): number => {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return readFileSync(here.file).toString('latin1').split(word).length - 1
  }
  expect(count()).toBeGreaterThan(0)
  db.exec("PRAGMA secure_delete = ON; DELETE FROM memory_items WHERE key = 'k'")
  expect(count()).toBe(0)
  db.close()
  expect(await ledger.memory.search(word)).toEqual([])
  await ledger.close()
})

it('L1 verify --projections says where the rows of memory are not what their run says', async () => {
  const ledger = openLedger(here.file)
  for (const key of ['a', 'b']) await ledger.memory.put({ ...name, key, value: key })
  expect((await ledger.memory.list()).items).toHaveLength(2)
  await ledger.memory.put({ ...name, key: 'not folded yet', value: 'c' })
  expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
  const db = new DatabaseSync(here.file)
  db.exec("UPDATE memory_items SET tags = '[\"other\"]' WHERE key = 'b'")
  db.close()
  expect((await ledger.verify()).ok).toBe(true)
  const { problems } = await ledger.verify(undefined, { projections: true })
  expect(problems).toMatchObject([{ problem: 'projection_differs', runId: 'clew:memory/long/workspace' }])
  await ledger.rebuild()
  expect((await ledger.memory.list()).items).toHaveLength(3)
  expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true })
  await ledger.close()
})
