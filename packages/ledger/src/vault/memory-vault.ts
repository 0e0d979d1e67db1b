import type { StoredEvent } from '../store.ts'
import type { VaultData, VaultedEvent, VaultRow, VaultRows } from './vault-rows.ts'

export interface MemoryVault {
  readonly rows: VaultRows
  put(position: number, row: VaultData): void
  drop(position: number): void
}

/** The vault of a store in memory. */
export function createMemoryVault(eventAt: (position: number) => StoredEvent | undefined): MemoryVault {
  const kept = new Map<number, VaultData>()

  function toRow(position: number, { keyId, data }: VaultData): VaultRow {
    const event = eventAt(position)
    return { position, keyId, data, event: event ? toVaultedEvent(event) : null }
  }

  return {
    put: (position, row) => void kept.set(position, row),
    drop: (position) => void kept.delete(position),
    rows: {
      async read(positions) {
        return positions
          .toSorted((a, b) => a - b)
          .flatMap((position) => {
            const row = kept.get(position)
            return row ? [toRow(position, row)] : []
          })
      },
      async list({ afterPosition, limit, keyId: only, exceptKeyId }) {
        return [...kept]
          .filter(
            ([position, { keyId }]) =>
              position > afterPosition && keyId !== exceptKeyId && (only ?? keyId) === keyId,
          )
          .toSorted(([a], [b]) => a - b)
          .slice(0, limit)
          .map(([position, row]) => toRow(position, row))
      },
      keyIds: async () => [...new Set([...kept.values()].map(({ keyId }) => keyId))].toSorted(),
      async replace(changes) {
        let replaced = 0
        for (const { position, before, after } of changes) {
          const row = kept.get(position)
          if (row?.keyId !== before.keyId || row.data !== before.data) continue
          kept.set(position, after)
          replaced++
        }
        return replaced
      },
    },
  }
}

const toVaultedEvent = (event: StoredEvent): VaultedEvent => ({
  workspace: event.workspace,
  runId: event.correlationId,
  seq: event.seq,
  eventId: event.eventId,
  payloadHash: event.payloadHash,
  hasPayload: event.body !== null,
})
