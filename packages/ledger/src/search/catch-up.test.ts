import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'

/** A ledger whose clock advances by `pageMs` with each page of 500 events that are indexed, and with nothing else. */
function openSlow(pageMs: number) {
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const ports = { ...nodePorts, now: () => nowMs }
  const store = createInProcessStore(ports)
  const { search } = store
  const add: typeof search.add = async (batch) => {
    nowMs += pageMs
    return search.add(batch)
  }
  return createLedger({
    store: { ...store, search: { ...search, add } },
    ports,
    secret: 's',
    heads: {} as never,
  })
}

const RUNS = 200
const EVENTS = 10

async function importRuns(pageMs: number) {
  const ledger = openSlow(pageMs)
  const lines = Array.from({ length: RUNS * EVENTS }, (_, at) => ({
    event_type: 'execution.message',
    correlation_id: `run-${Math.floor(at / EVENTS)}`,
    payload: { role: 'user', content: `About ferry ${at}` },
  }))
  await ledger.import([lines.map((line) => JSON.stringify(line)).join('\n')])
  return ledger
}

describe('L1 a search after an import', () => {
  it('L1 waits for the index and finds all runs', async () => {
    const ledger = await importRuns(300)
    const { hits, lag } = await ledger.search('ferry', { limit: 1000 })
    expect([hits.length, lag]).toEqual([RUNS, 0])
  })

  it('L1 waits for two seconds at most, and says how much is not indexed', async () => {
    const ledger = await importRuns(900)
    const first = await ledger.search('ferry', { limit: 1000 })
    // The third page of 500 begins before two seconds are over.
    expect([first.hits.length, first.lag]).toEqual([150, 500])
    const second = await ledger.search('ferry', { limit: 1000 })
    expect([second.hits.length, second.lag]).toEqual([RUNS, 0])
  })
})
