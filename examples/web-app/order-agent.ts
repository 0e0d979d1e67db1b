import { agent } from 'clew'
import { ask } from './warehouse.ts'

export interface Order {
  readonly item: string
  readonly euros: number
  readonly warehouseUrl: string
}

const NOTE = {
  type: 'object',
  required: ['text', 'isLast'],
  properties: { text: { type: 'string', maxLength: 40 }, isLast: { type: 'boolean' } },
} as const

const VERDICT = {
  type: 'object',
  required: ['approve'],
  properties: { approve: { type: 'boolean' } },
} as const

/** An order of an engraved thing: reserved, engraved with each note of the customer, allowed if it is dear, shipped. */
export const orders = agent(
  'orders',
  async (run, { item, euros, warehouseUrl }: Order) => {
    const atWarehouse = (action: string, detail: string) =>
      run.effect(
        action,
        { orderId: run.runId, action, detail },
        (task, { idempotencyKey, signal }) => ask(warehouseUrl, task, { idempotencyKey, signal }),
        // The warehouse does nothing more for a key that it knows, so after a crash it may be asked again.
        { safety: 'write', idempotent: true },
      )
    await atWarehouse('reserve', item)
    const lines: string[] = []
    for (let isLast = false; !isLast; ) {
      const note = await run.receive('note', NOTE)
      await atWarehouse('engrave', note.text)
      lines.push(note.text)
      isLast = note.isLast
    }
    if (euros > 500) {
      const question = `Ship ${item} for ${euros} euros?`
      const { approve } = await run.interrupt({ question, schema: VERDICT })
      if (!approve) return { item, lines, parcel: null }
    }
    return { item, lines, parcel: await atWarehouse('ship', item) }
  },
  { signals: { note: NOTE } },
)
