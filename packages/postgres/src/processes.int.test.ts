import { expect, it } from 'vitest'
import { openLedger } from '../test/harness.ts'
import { withChildren } from '../test/with-children.ts'

const here = withChildren()

interface Followed {
  seen: number
  wrong: string
  seqs: Record<string, number>
}

it('L3 L7 several processes append to runs of their own and to one they share while another follows all', async () => {
  const [writers, each] = [4, 1500]
  await (await openLedger(here.database.url)).close()
  const follower = here.start('follow', writers * each)
  const appenders = Array.from({ length: writers }, (_, who) => here.start('append', who, each))
  expect(await follower.next()).toBe('following')
  expect(await Promise.all(appenders.map((child) => child.next()))).toEqual(appenders.map(() => 'done'))
  const followed = (await follower.next()) as Followed
  expect(followed.wrong).toBe('')
  expect(followed.seen).toBe(writers * each)
  const own = Array.from({ length: writers }, (_, who) => [`run-${who}`, (each * 2) / 3])
  expect(followed.seqs).toEqual({ ...Object.fromEntries(own), shared: (writers * each) / 3 })
  const ledger = await openLedger(here.database.url)
  expect((await ledger.verify(undefined, { projections: true })).ok).toBe(true)
  await ledger.close()
})
