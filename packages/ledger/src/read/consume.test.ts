import { foreignType } from '../catalogue/catalogue.ts'
import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import type { Ledger } from '../ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import type { Ports } from '../ports.ts'

const note = (n: number) => ({ eventType: foreignType('execution.note'), correlationId: 'r', payload: { n } })

/** A ledger whose naps take no time and are written down. */
function open(dice: string): { ledger: Ledger; naps: number[] } {
  const naps: number[] = []
  const ports: Ports = {
    ...nodePorts,
    randomHex: (bytes) => dice.repeat(bytes * 2),
    async sleep(ms, signal) {
      if (ms === 15_000) return nodePorts.sleep(ms, signal)
      naps.push(ms)
      await nodePorts.sleep(0, signal)
    },
  }
  const parts = {
    store: createInProcessStore(ports),
    ports,
    secret: 'a secret',
    heads: { verify: async () => true },
  }
  return { ledger: createLedger(parts), naps }
}

describe('V9 a handler that fails', () => {
  it.each([
    ['0', 0.5],
    ['f', 1],
  ])('is tried again after naps that double up to a minute, with dice %s', async (dice, share) => {
    const { ledger, naps } = open(dice)
    const stop = new AbortController()
    await ledger.record(note(1))
    let tries = 0
    await ledger.consume(
      'fails',
      () => {
        if (++tries === 12) stop.abort()
        throw new Error('no')
      },
      { signal: stop.signal },
    )
    const wanted = [250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]
    expect(naps.slice(0, 11).map(Math.round)).toEqual(wanted.map((ms) => Math.round(ms * share)))
    expect((await ledger.consumers())[0]).toMatchObject({ failures: 12, position: 0, lastError: 'Error: no' })
    await ledger.close()
  })

  it('begins with short naps again once it worked', async () => {
    const { ledger, naps } = open('f')
    const stop = new AbortController()
    await ledger.append([1, 2, 3].map(note))
    let calls = 0
    await ledger.consume(
      'sometimes',
      ([event]) => {
        if (++calls % 3 !== 0) throw new Error('no')
        if (event?.payload['n'] === 3) stop.abort()
      },
      { signal: stop.signal, batch: 1 },
    )
    expect(naps.map(Math.round)).toEqual([250, 500, 250, 500, 250, 500])
    await ledger.close()
  })
})

describe('V9 closing the ledger', () => {
  it('ends consumers that wait, and does not wait for a handler that closes it itself', async () => {
    const { ledger } = open('0')
    const waiting = ledger.consume('waits', () => {})
    await ledger.record(note(1))
    const closing = ledger.consume('closes', () => ledger.close())
    await Promise.all([waiting, closing])
    await expect(ledger.consume('late', () => {})).rejects.toMatchObject({ code: 'closed' })
  })

  it('is not needed for who has aborted before', async () => {
    const { ledger } = open('0')
    await ledger.consume('never', () => {}, { signal: AbortSignal.abort() })
    expect(await ledger.consumers()).toEqual([])
    await ledger.close()
  })
})

describe('V9 a consumer that is ended', () => {
  it('while its claim is on its way gives the claim back and ends', async () => {
    const store = createInProcessStore(nodePorts)
    const claimed = Promise.withResolvers<void>()
    const leases: typeof store.leases = {
      ...store.leases,
      async acquire(...args) {
        await claimed.promise
        return store.leases.acquire(...args)
      },
    }
    const parts = { ports: nodePorts, secret: 'a secret', heads: { verify: async () => true } }
    const ledger = createLedger({ ...parts, store: { ...store, leases } })
    const stop = new AbortController()
    const ended = ledger.consume('late', () => {}, { signal: stop.signal })
    stop.abort()
    claimed.resolve()
    await ended
    expect(await store.leases.list()).toEqual([])
    await ledger.close()
  })
})
