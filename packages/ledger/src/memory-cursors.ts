import type { Cursors, StoredCursor } from './store.ts'

export function createMemoryCursors(): Cursors {
  const all = new Map<string, StoredCursor>()
  return {
    async list(workspace) {
      const own = [...all.values()].filter((cursor) => cursor.workspace === workspace)
      return own.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    async put(cursor, version) {
      const key = `${cursor.workspace}\n${cursor.name}`
      if ((all.get(key)?.version ?? 0) !== version) return null
      const next = { ...cursor, version: version + 1 }
      all.set(key, next)
      return next
    },
  }
}
