import { RUN_STATUSES } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchItems as match, type MatchedItem, type StoredItem } from './match-items.ts'

const stored = (...rows: [runId: string, signature: string, status: StoredItem['status']][]): StoredItem[] =>
  rows.map(([runId, signature, status]) => ({ runId, signature: `key-mark${signature}`, digest: '', status }))
const matchItems = (children: readonly StoredItem[], signatures: readonly string[]): Promise<MatchedItem[]> =>
  match(
    children,
    signatures.map((signature) => ({ signature: `key-mark${signature}`, digest: '' })),
    async () => false,
  )
const again = { action: 'run', retryOf: null }

describe('R8 matching items with stored children', () => {
  it('R8 goes by input signature, wherever the item stands now', async () => {
    const children = stored(['r0', 'a', 'completed'], ['r1', 'b', 'completed'])
    expect(await matchItems(children, ['b', 'c', 'a'])).toEqual([
      { action: 'restore', runId: 'r1' },
      again,
      { action: 'restore', runId: 'r0' },
    ])
  })

  it('R8 duplicates are claimed one for one, in order', async () => {
    const children = stored(['r0', 'a', 'completed'], ['r1', 'a', 'completed'])
    expect(await matchItems(children, ['a', 'a', 'a'])).toEqual([
      { action: 'restore', runId: 'r0' },
      { action: 'restore', runId: 'r1' },
      again,
    ])
  })

  it('R8 changed inputs run again', async () => {
    expect(await matchItems(stored(['r0', 'a', 'completed']), ['a2'])).toEqual([again])
  })

  it('R8 never restores a failed child: it is run again as a retry', async () => {
    expect(await matchItems(stored(['r0', 'a', 'failed']), ['a'])).toEqual([{ action: 'run', retryOf: 'r0' }])
    expect(await matchItems(stored(['r0', 'a', 'failed'], ['r1', 'a', 'completed']), ['a'])).toEqual([
      { action: 'restore', runId: 'r1' },
    ])
  })

  it('R8 goes on with a child that waits or was interrupted', async () => {
    expect(await matchItems(stored(['r0', 'a', 'paused'], ['r1', 'b', 'interrupted']), ['a', 'b'])).toEqual([
      { action: 'resume', runId: 'r0' },
      { action: 'resume', runId: 'r1' },
    ])
  })

  it('R8 does not know children that were superseded or deleted', async () => {
    expect(await matchItems(stored(['r0', 'a', 'superseded'], ['r1', 'a', 'deleted']), ['a'])).toEqual([
      again,
    ])
  })

  it('R8 claims each child at most once, as many as there are, and restores none but completed ones', async () => {
    const signature = fc.constantFrom('a', 'b', 'c')
    const children = fc.array(fc.record({ signature, status: fc.constantFrom(...RUN_STATUSES) }))
    await fc.assert(
      fc.asyncProperty(children, fc.array(signature), async (rows, signatures) => {
        const all = rows.map((row, at) => ({ ...row, runId: `r${at}` }))
        const matches = await matchItems(
          stored(
            ...all.map(
              (row) => [row.runId, row.signature, row.status] as [string, string, typeof row.status],
            ),
          ),
          signatures,
        )
        const claimed = matches.flatMap((match, at) => {
          const runId = match.action === 'run' ? match.retryOf : match.runId
          return runId === null ? [] : [{ runId, match, signature: signatures[at] }]
        })
        expect(new Set(claimed.map(({ runId }) => runId)).size).toBe(claimed.length)
        for (const { runId, match, signature: asked } of claimed) {
          const child = all.find((each) => each.runId === runId)
          expect(child?.signature).toBe(asked)
          expect(match.action === 'restore').toBe(child?.status === 'completed')
        }
        for (const each of ['a', 'b', 'c']) {
          const asked = signatures.filter((s) => s === each).length
          const completed = all.filter((row) => row.signature === each && row.status === 'completed').length
          const restored = matches.filter((m, at) => m.action === 'restore' && signatures[at] === each).length
          expect(restored).toBe(Math.min(asked, completed))
        }
      }),
    )
  })

  describe('children whose signature says nothing here', () => {
    const child = { runId: 'r0', status: 'completed', digest: 'd' } as const
    const item = { signature: 'key-marka', digest: 'd' }

    it('R8 are found by the digest of their input, else by the input itself', async () => {
      for (const signature of [undefined, 'othermarka']) {
        const restored = [{ action: 'restore', runId: 'r0' }]
        expect(await match([{ ...child, signature }], [item], async () => false)).toEqual(restored)
        const other = { ...child, digest: 'e', signature }
        expect(await match([other], [item], async () => true)).toEqual(restored)
        expect(await match([other], [item], async () => false)).toEqual([again])
      }
    })

    it('R8 one that was made with the same key and differs is another input, whatever its record fits', async () => {
      const other = { ...child, signature: 'key-markb' }
      expect(await match([other], [item], async () => true)).toEqual([again])
    })
  })
})
