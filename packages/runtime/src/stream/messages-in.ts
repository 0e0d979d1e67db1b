import type { Channels } from '../graph/channel.ts'
import type { KeptMessage } from '../graph/message.ts'

const NONE: readonly KeptMessage[] = []

/** The messages that a write holds; removals are none. */
export function messagesIn(
  channels: Channels,
  write: Readonly<Record<string, unknown>> | null,
): readonly KeptMessage[] {
  if (write === null) return NONE
  return Object.entries(write)
    .filter(([name]) => channels[name]?.kind === 'messages')
    .flatMap(([, value]) => value as KeptMessage | readonly KeptMessage[])
    .filter(({ role }) => (role as string) !== 'remove')
}
