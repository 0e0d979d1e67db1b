import type { Store, StoredEvent } from '../store/store.ts'

/** The chain of causes of an event, nearest first; ends where a cause has not arrived, and at a cycle (L9). */
export async function findCauses(store: Store, workspace: string, eventId: string): Promise<StoredEvent[]> {
  const chain: StoredEvent[] = []
  const seen = new Set([eventId])
  let [at] = await store.findEvents({ workspace, ids: [eventId] })
  while (at?.causationId && !seen.has(at.causationId)) {
    seen.add(at.causationId)
    ;[at] = await store.findEvents({ workspace, ids: [at.causationId] })
    if (at) chain.push(at)
  }
  return chain
}

/** All that an event led to, breadth first. */
export async function findEffects(store: Store, workspace: string, eventId: string): Promise<StoredEvent[]> {
  const found: StoredEvent[] = []
  const seen = new Set([eventId])
  for (let wave = [eventId]; wave.length > 0; ) {
    const caused = await store.findEvents({ workspace, causes: wave })
    const fresh = caused.filter((event) => !seen.has(event.eventId))
    wave = [...new Set(fresh.map((event) => event.eventId))]
    for (const id of wave) seen.add(id)
    found.push(...fresh)
  }
  return found
}
