import { findRun } from '../store/find-runs.ts'
import { isPlaceholder } from '../redact/placeholder.ts'
import type { Store } from '../store/store.ts'
import { assert, assertEqual, assertRefused } from './assert.ts'
import { note, readAll, started, type StoreTest, upTo } from './world.ts'

// Put together here, so that no scanner takes this file for a leak.
const KEY = ['sk', 'proj', 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh'].join('-')
const OTHER = ['sk', 'proj', 'ZyXwVuTsRqPoNmLkJiHgFeDcBa9876543210ZyXwVuTs'].join('-')

export const privacyTests: readonly StoreTest[] = [
  {
    rule: 'P1',
    title: 'a secret is nowhere in the store: a placeholder is kept, also in trees and projections',
    async run(world) {
      const ledger = await world.open()
      const large = { list: upTo(400).map((n) => ({ n, text: n === 200 ? `use ${KEY} here` : `text ${n}` })) }
      const answer = await ledger.record(
        note('r', { text: `key ${KEY}`, headers: { authorization: `Bearer ${KEY}` } }),
      )
      await ledger.append([
        note('r', large),
        {
          eventType: 'ui.input_requested',
          correlationId: 'r',
          payload: { pauseId: 'p', question: `is it ${KEY}?` },
        },
        {
          eventType: 'system.workflow_failed',
          correlationId: 'r',
          payload: { error: { message: `bad ${KEY}` } },
        },
        {
          eventType: 'execution.step_started',
          correlationId: 'r',
          payload: { stepId: 's#0', name: 's', input: KEY },
        },
      ])
      assert(!JSON.stringify(answer).includes(KEY), 'the answer')
      const store = await world.openStore()
      const stored = await store.readAll({ afterPosition: 0, limit: 100 })
      const nodes = await allNodes(store, stored.length)
      const rows = [stored, nodes, await findRun(store, { workspace: 'default', runId: 'r' })]
      rows.push(await store.readSteps({ workspace: 'default', runId: 'r' }))
      assert(!JSON.stringify(rows).includes(KEY.slice(8)), 'what the store gives')
      let text = ''
      for await (const line of ledger.export()) text += line
      assert(!text.includes(KEY.slice(8)), 'the export')
      assert((await ledger.verify(undefined, { projections: true })).ok, 'it verifies')
    },
  },
  {
    rule: 'P2',
    title: 'the same secret keeps the same fingerprint, another has another, over reopening',
    async run(world) {
      await (await world.open()).append([
        note('r', { key: KEY }),
        note('q', { text: KEY }),
        note('r', { key: OTHER }),
      ])
      await world.closeAll()
      const ledger = await world.open()
      await ledger.record(note('r', { key: KEY }))
      const [first, second, third] = (await readAll(ledger, 'r')).map((event) => String(event.payload['key']))
      assert(first !== undefined && isPlaceholder(first), `a placeholder: ${first}`)
      assertEqual(third, first, 'the same secret')
      assert(second !== undefined && isPlaceholder(second) && second !== first, 'another secret')
      assertEqual((await readAll(ledger, 'q'))[0]?.payload['text'], first, 'in another run')
    },
  },
  {
    rule: 'P1',
    title: 'rules of the ledger apply to imports too; what would change a hash asks for rehash',
    async run(world) {
      const open = await world.open({ redact: false })
      await open.append([started('r', { input: 'plain' }), note('r', { key: KEY })])
      const lines: string[] = []
      for await (const line of open.export()) lines.push(line)
      const there = await (await world.elsewhere()).open()
      await assertRefused(() => there.import(lines), 'broken_import', { runId: 'r', seq: 2 })
      assertEqual((await there.stats()).events, 0, 'nothing was written')
      await there.import(lines, { rehash: true })
      const [, second] = await readAll(there, 'r')
      assert(isPlaceholder(String(second?.payload['key'])), 'redacted')
    },
  },
  {
    rule: 'P3',
    title: 'a refusal repeats nothing of a payload',
    async run(world) {
      const ledger = await world.open()
      const event = await ledger.record(note('r', { text: 'sesame' }))
      const clash = { ...event, payload: { text: 'open sesame' } }
      const errors = [
        await assertRefused(() => ledger.append([clash]), 'conflict'),
        await assertRefused(() => ledger.record(note('r', { sesame: 1, f: () => 'sesame' })), 'bad_value'),
        await assertRefused(
          () =>
            ledger.append([
              { eventType: 'execution.message', correlationId: 'r', payload: { role: ['sesame'] } },
            ]),
          'bad_payload',
        ),
      ]
      for (const error of errors) assert(!JSON.stringify(error).includes('sesame'), error.message)
    },
  },
]

async function allNodes(store: Pick<Store, 'values'>, least: number) {
  const found: unknown[] = []
  for (const id of upTo(500 + least, 0)) {
    try {
      for (const node of (await store.values.read([id])).values()) found.push(node)
    } catch {
      // Ids are chosen by the store; an unknown one is not found.
    }
  }
  return found
}
