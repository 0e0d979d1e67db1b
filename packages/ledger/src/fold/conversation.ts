import { contentText } from './content-text.ts'
import type { ParsedMessage, ParsedToolCall, ParsedToolResult } from '../messages/parse-message.ts'

/** Part of a message: model providers put the same parts into one message or into several. */
export type Utterance =
  | { readonly kind: 'words'; readonly key: string; readonly message: ParsedMessage }
  | { readonly kind: 'call'; readonly key: string; readonly call: ParsedToolCall }
  | { readonly kind: 'result'; readonly key: string; readonly result: ParsedToolResult }

/** Parts of a message; the same text, call or result has the same `key` in any provider's form. */
export function utterancesOf(message: ParsedMessage): Utterance[] {
  const { role, content, reasoning, toolCalls, toolResults } = message
  const isSilent = toolCalls.length + toolResults.length > 0 || (role === 'assistant' && reasoning !== null)
  const said: Utterance[] = toolResults.map((result) => ({
    kind: 'result',
    key: `result ${result.toolCallId ?? `${result.name}\n${contentText(result.content)}`}`,
    result,
  }))
  if (content !== null || reasoning !== null || !isSilent)
    said.push({ kind: 'words', key: `${role} ${contentText(content ?? reasoning)}`, message })
  for (const call of toolCalls)
    said.push({
      kind: 'call',
      key: `call ${call.id ?? `${call.name}\n${contentText(call.arguments)}`}`,
      call,
    })
  return said
}

/** Transcript slot of an utterance, and the kinds of record that contain it. */
interface Mention {
  readonly slot: number
  readonly sources: Set<string>
}

/**
 * Finds what is new in a conversation that several records contain: a model request repeats all earlier messages, and
 * a state repeats the model's last answer. Changed in place: it is part of a fold's state.
 */
export interface Conversation {
  /** Slot at which another source has the same utterance; undefined if it is new and the caller has to `note` it. */
  claim(key: string, source: string): number | undefined
  note(key: string, source: string, slot: number): void
  /** Newest slot of this key. */
  find(key: string): number | undefined
  /** Utterances of a model request that no earlier request contained. */
  beyond(list: readonly Utterance[]): { readonly fresh: readonly Utterance[]; readonly thread: string[] }
  /** For a list that replaces a channel's value: by channel and key, how many of its occurrences are known. */
  readonly channels: Map<string, Map<string, number>>
}

export function createConversation(): Conversation {
  const mentions = new Map<string, Mention[]>()
  /** Keys of each conversation with a model, in order. */
  const threads: string[][] = []
  return {
    claim(key, source) {
      const open = mentions.get(key)?.find(({ sources }) => !sources.has(source))
      open?.sources.add(source)
      return open?.slot
    },
    note(key, source, slot) {
      const place = { slot, sources: new Set([source]) }
      const list = mentions.get(key)
      if (list) list.push(place)
      else mentions.set(key, [place])
    },
    find: (key) => mentions.get(key)?.at(-1)?.slot,
    beyond(list) {
      let thread: string[] | undefined
      let shared = 0
      for (const each of threads) {
        const count = sharedCount(each, list)
        if (count > shared) [thread, shared] = [each, count]
      }
      if (!thread) threads.push((thread = []))
      thread.length = 0
      for (const { key } of list) thread.push(key)
      return { fresh: list.slice(shared), thread }
    },
    channels: new Map(),
  }
}

function sharedCount(thread: readonly string[], list: readonly Utterance[]): number {
  let count = 0
  while (count < thread.length && thread[count] === list[count]?.key) count++
  return count
}
