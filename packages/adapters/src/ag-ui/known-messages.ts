import type { JsonObject } from '@clew/ledger'
import { plainText } from '../foreign.ts'

/**
 * Messages that the reader of a stream has already. AG-UI's client keeps what its user wrote, and appends to a message
 * whose id it knows, so a message sent again would be shown twice or read doubled.
 */
export interface KnownMessages {
  /** True if the reader has this message, by its id, or one of a user with the same text. Each text counts once. */
  has(message: { readonly id: string | undefined; readonly role: string; readonly text: string }): boolean
  /** The reader gets this message otherwise. */
  add(id: string): void
}

export function createKnownMessages(
  messages: readonly JsonObject[],
  toText: (content: unknown) => string,
): KnownMessages {
  const ids = new Set<string>()
  const textsById = new Map<string, string>()
  for (const [nth, { id, role, content }] of messages.entries()) {
    const own = plainText(id)
    if (own !== undefined) ids.add(own)
    if (role === 'user') textsById.set(own ?? `#${nth}`, toText(content))
  }
  return {
    has({ id, role, text }) {
      if (id !== undefined && ids.has(id)) {
        textsById.delete(id)
        return true
      }
      if (role !== 'user') return false
      const [same] = textsById.entries().find(([, each]) => each === text) ?? []
      return same !== undefined && textsById.delete(same)
    },
    add: (id) => void ids.add(id),
  }
}
