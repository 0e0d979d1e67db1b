import { foreignType } from '../catalogue/catalogue.ts'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import { createOriginals } from './originals.ts'
import type { VaultCipher } from './vault.ts'

/** Hides nothing: only what is kept counts here. */
const cipher: VaultCipher = {
  keyId: 'k',
  encrypt: (text) => Buffer.from(text).toString('hex'),
  decrypt: async ({ data }) => ({ text: Buffer.from(data, 'hex').toString() }),
  renew: async () => {},
}

describe('originals in memory', () => {
  it('P2 are bounded by count, the least recently seen go first', () => {
    const originals = createOriginals({ maxCount: 2 })
    for (const name of ['a', 'b', 'a', 'c']) originals.remember(name, `secret ${name}`)
    expect(['a', 'b', 'c'].map(originals.find)).toEqual(['secret a', undefined, 'secret c'])
  })

  it('P2 are bounded by characters, and one that is too long is not kept', () => {
    const originals = createOriginals({ maxChars: 10 })
    originals.remember('a', '12345678')
    originals.remember('a', '12345')
    originals.remember('b', '67890')
    expect(['a', 'b'].map(originals.find)).toEqual(['12345', '67890'])
    originals.remember('c', 'x'.repeat(11))
    expect(['a', 'b', 'c'].map(originals.find)).toEqual([undefined, undefined, undefined])
  })

  it('P2 of one payload are all kept while it is redacted, also when that fails', () => {
    const originals = createOriginals({ maxCount: 2 })
    const fill = (): void => {
      for (const name of ['a', 'b', 'c', 'd']) originals.remember(name, name)
    }
    originals.during(fill)
    expect(['a', 'b', 'c', 'd'].map(originals.find)).toEqual(['a', 'b', 'c', 'd'])
    expect(() =>
      originals.during(() => {
        throw new Error('refused')
      }),
    ).toThrow('refused')
    originals.remember('e', 'e')
    expect(['a', 'd', 'e'].map(originals.find)).toEqual([undefined, 'd', 'e'])
  })
})

describe('a ledger with a vault', () => {
  const open = () => {
    const store = createInProcessStore(nodePorts)
    const parts = {
      store,
      ports: nodePorts,
      secret: 'long enough for a test',
      heads: { verify: async () => false },
    }
    const rules = [{ kind: 'code', pattern: /CODE-\d{6}/ }]
    return { store, ledger: createLedger({ ...parts, vault: cipher }, { redact: { rules } }) }
  }

  it('P2 restores a payload with more secrets than are remembered', async () => {
    const { ledger } = open()
    const list = Array.from({ length: 25_000 }, (_, n) => `CODE-${String(n).padStart(6, '0')}`)
    await ledger.record({ eventType: foreignType('execution.note'), correlationId: 'r', payload: { list } })
    const [event] = await Array.fromAsync(ledger.read('r', { restored: true }))
    expect(event?.payload).toEqual({ list })
  })

  it('P3 shows no original when it is printed', async () => {
    const { ledger } = open()
    await ledger.record({
      eventType: foreignType('execution.note'),
      correlationId: 'r',
      payload: { key: 'CODE-123456' },
    })
    expect(inspect(ledger, { depth: 20, showHidden: true })).not.toContain('CODE-123456')
  })
})
