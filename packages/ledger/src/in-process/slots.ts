import type { Slots, StoredSlot } from '../store/slots.ts'

export function createInProcessSlots(): Slots {
  const all = new Map<string, StoredSlot>()
  return {
    async list(workspace, prefix) {
      const found = [...all.values()].filter(
        (slot) => slot.workspace === workspace && slot.name.startsWith(prefix),
      )
      return found.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    async put(slot, version) {
      const key = `${slot.workspace}\n${slot.name}`
      if ((all.get(key)?.version ?? 0) !== version) return null
      const next = { ...slot, version: version + 1 }
      all.set(key, next)
      return next
    },
  }
}
