import { foreignType } from '../catalogue/catalogue.ts'
import { describe, expect, it } from 'vitest'
import { nodePorts } from '../../test/node-ports.ts'
import { createLedger } from '../create-ledger.ts'
import { createInProcessStore } from '../in-process/in-process-store.ts'
import type { Store } from '../store/store.ts'

function open() {
  let closes = 0
  const memory = createInProcessStore(nodePorts)
  const store: Store = {
    ...memory,
    async close() {
      closes++
      await memory.close()
    },
  }
  const parts = { store, ports: nodePorts, secret: 'a secret', heads: { verify: async () => true } }
  return { ledger: createLedger(parts, { workspace: 'red' }), closes: () => closes }
}

const note = (payload: Record<string, unknown> = {}) => ({
  eventType: foreignType('execution.note'),
  correlationId: 'r',
  payload,
})

describe('views of one ledger', () => {
  it('A2 see their own workspace each, over one store', async () => {
    const { ledger } = open()
    const blue = ledger.in('blue')
    await ledger.record(note({ of: 'red' }))
    await blue.record(note({ of: 'blue' }))
    await blue.in('red').record(note({ of: 'red' }))
    expect((await Array.fromAsync(ledger.read('r'))).map(({ payload }) => payload['of'])).toEqual([
      'red',
      'red',
    ])
    expect((await Array.fromAsync(blue.read('r'))).map(({ payload }) => payload['of'])).toEqual(['blue'])
    expect([ledger.workspace, blue.workspace]).toEqual(['red', 'blue'])
    expect(() => ledger.in('a b')).toThrow('workspace')
  })

  it('A2 end with the one that was opened, and leave it open when they end', async () => {
    const { ledger, closes } = open()
    const [blue, green] = [ledger.in('blue'), ledger.in('green')]
    const consuming = blue.consume('all', () => {})
    const following = Array.fromAsync(green.follow())
    await blue.close()
    await consuming
    await expect(blue.record(note())).rejects.toMatchObject({ code: 'closed' })
    await ledger.record(note())
    expect(closes()).toBe(0)
    const late = green.consume('all', () => {})
    await ledger.close()
    await late
    expect(await following).toEqual([])
    await expect(green.getRun('r')).rejects.toMatchObject({ code: 'closed' })
    await green.close()
    await ledger.close()
    expect(closes()).toBe(1)
  })

  it('M1 refuse every call of their memory after they were closed', async () => {
    const { ledger } = open()
    const { memory } = ledger.in('blue')
    const name = { layer: 'long', scope: 'workspace', namespace: 'n', key: 'k' } as const
    const view = ledger.in('blue')
    await view.close()
    const calls = [
      () => view.memory.put({ ...name, value: 1 }),
      () => view.memory.get(name),
      () => view.memory.list(),
      () => view.memory.search('word'),
      () => view.memory.forget(name),
      () => view.memory.promote({ rules: [{ from: 'short', to: 'session', when: { tags: ['t'] } }] }),
      () => view.memory.sweep(),
      () => view.memory.context({ budgetTokens: 100 }),
      () => Array.fromAsync(view.memory.export()),
      () => view.memory.import([]),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'closed' })
    expect(await memory.get(name)).toBeNull()
  })

  it('L5 wait for what was appended through any of them', async () => {
    const { ledger } = open()
    const writes = ['a', 'b', 'c'].map((name) => ledger.in(name).record(note()))
    await ledger.close()
    expect((await Promise.all(writes)).map((event) => event.ledger.workspace)).toEqual(['a', 'b', 'c'])
  })

  it('E1 give and take, when plain, the very JSON that is stored', async () => {
    const { ledger } = open()
    const plain = ledger.in('red', { plain: true })
    const rich = { when: new Date(0), big: 10n, own: { $clew: 'mine', value: 1 } }
    await ledger.record(note(rich))
    const [stored] = await Array.fromAsync(plain.read('r'))
    const [line = ''] = await Array.fromAsync(ledger.export())
    expect(stored?.payload).toEqual((JSON.parse(line) as { payload: unknown }).payload)
    await plain.record(note(stored?.payload))
    const events = await Array.fromAsync(ledger.read('r'))
    expect(events.map(({ payload }) => payload)).toEqual([rich, rich])
    expect((await ledger.verify()).ok).toBe(true)
  })
})
