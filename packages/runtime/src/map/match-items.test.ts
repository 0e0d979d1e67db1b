import { RUN_STATUSES } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchItems, type StoredItem } from './match-items.ts'

const stored = (...rows: [runId: string, signature: string, status: StoredItem['status']][]): StoredItem[] =>
  rows.map(([runId, signature, status]) => ({ runId, signature, status }))
const again = { action: 'run', retryOf: null }

describe('R8 matching items with stored children', () => {
  it('R8 goes by input signature, wherever the item stands now', () => {
    const children = stored(['r0', 'a', 'completed'], ['r1', 'b', 'completed'])
    expect(matchItems(children, ['b', 'c', 'a'])).toEqual([
      { action: 'restore', runId: 'r1' },
      again,
      { action: 'restore', runId: 'r0' },
    ])
  })

  it('R8 duplicates are claimed one for one, in order', () => {
    const children = stored(['r0', 'a', 'completed'], ['r1', 'a', 'completed'])
    expect(matchItems(children, ['a', 'a', 'a'])).toEqual([
      { action: 'restore', runId: 'r0' },
      { action: 'restore', runId: 'r1' },
      again,
    ])
  })

  it('R8 changed inputs run again', () => {
    expect(matchItems(stored(['r0', 'a', 'completed']), ['a2'])).toEqual([again])
  })

  it('R8 never restores a failed child: it is run again as a retry', () => {
    expect(matchItems(stored(['r0', 'a', 'failed']), ['a'])).toEqual([{ action: 'run', retryOf: 'r0' }])
    expect(matchItems(stored(['r0', 'a', 'failed'], ['r1', 'a', 'completed']), ['a'])).toEqual([
      { action: 'restore', runId: 'r1' },
    ])
  })

  it('R8 goes on with a child that waits or was interrupted', () => {
    expect(matchItems(stored(['r0', 'a', 'paused'], ['r1', 'b', 'interrupted']), ['a', 'b'])).toEqual([
      { action: 'resume', runId: 'r0' },
      { action: 'resume', runId: 'r1' },
    ])
  })

  it('R8 does not know children that were superseded or deleted', () => {
    expect(matchItems(stored(['r0', 'a', 'superseded'], ['r1', 'a', 'deleted']), ['a'])).toEqual([again])
  })

  it('R8 claims each child at most once, as many as there are, and restores none but completed ones', () => {
    const signature = fc.constantFrom('a', 'b', 'c')
    const children = fc.array(fc.record({ signature, status: fc.constantFrom(...RUN_STATUSES) }))
    fc.assert(
      fc.property(children, fc.array(signature), (rows, signatures) => {
        const all = rows.map((row, at) => ({ ...row, runId: `r${at}` }))
        const matches = matchItems(all, signatures)
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
})
