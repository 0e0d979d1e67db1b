import { createLedger, createInProcessStore, type EventInput } from '@clew/ledger'
import { nodePorts } from '@clew/runtime/node-ports'

const DAY_MS = 86_400_000

/** An export of runs that were recorded days ago, two a day, oldest first: imported, they are as old elsewhere. */
export async function* agedLines(days: number): AsyncGenerator<string> {
  let ago = days
  const ports = { ...nodePorts, now: () => nodePorts.now() - ago * DAY_MS }
  const parts = {
    store: createInProcessStore(ports),
    ports,
    secret: 'a secret that is long enough',
    heads: { verify: async () => false },
  }
  const ledger = createLedger(parts)
  const at = (eventType: string, correlationId: string, payload: EventInput['payload'] = {}): EventInput => ({
    eventType,
    correlationId,
    payload,
    timestamp: new Date(ports.now()).toISOString(),
  })
  for (; ago > 0.5; ago--)
    for (const n of [1, 2]) {
      const runId = `aged-${ago}-${n}`
      const end = n === 1 ? 'completed' : 'failed'
      await ledger.append([
        at('system.workflow_started', runId, { agent: 'archivist' }),
        at('execution.note', runId, { text: 'seen' }),
        at(`system.workflow_${end}`, runId),
      ])
      if (n === 1)
        await ledger.memory.put({
          layer: 'short',
          scope: runId,
          namespace: 'diary',
          key: 'weather',
          value: 'calm',
        })
    }
  yield* ledger.export()
  await ledger.close()
}
