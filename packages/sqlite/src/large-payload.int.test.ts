import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeFolder, openLedger, removeFolder } from '../test/harness.ts'

let folder: string
beforeEach(() => void (folder = makeFolder()))
afterEach(() => removeFolder(folder))

describe('a payload of 50 MB', () => {
  it('L8 is stored, read back equal and verified; sent again with one word more it costs that word', async () => {
    const ledger = openLedger(join(folder, 'large.db'))
    const page = Array.from({ length: 1000 }, (_, i) => `line ${i} of a page about owls, `).join('')
    const pages = Array.from({ length: 1700 }, (_, i) => `${i} ${page}`)
    const record = (n: number): Promise<unknown> =>
      ledger.record({
        eventType: 'execution.message',
        correlationId: 'r',
        payload: { pages, note: `word ${n}` },
      })
    await record(1)
    const { bytes } = await ledger.stats()
    await record(2)
    expect((await ledger.stats()).bytes - bytes).toBeLessThan(200_000)
    let read = 0
    for await (const { payload } of ledger.read('r')) {
      expect((payload['pages'] as string[]).reduce((sum, text) => sum + text.length, 0)).toBeGreaterThan(
        50_000_000,
      )
      expect(payload).toEqual({ pages, note: `word ${++read}` })
    }
    expect(await ledger.verify()).toMatchObject({ ok: true, checked: 2 })
    await ledger.close()
  })
})
