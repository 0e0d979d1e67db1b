import { contentText } from './content-text.ts'
import type { ParsedMessage, ParsedToolCall, ParsedToolResult } from '../messages/parse-message.ts'

/** What a message says, piece by piece: makers of models put the same pieces into one message or into several. */
export type Utterance =
  | { readonly kind: 'words'; readonly key: string; readonly message: ParsedMessage }
  | { readonly kind: 'call'; readonly key: string; readonly call: ParsedToolCall }
  | { readonly kind: 'result'; readonly key: string; readonly result: ParsedToolResult }

/** The same key for the same words, call or result in any form. */
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

/** A place in a transcript, and which kinds of record told it. */
interface Told {
  readonly slot: number
  readonly sources: Set<string>
}

/**
 * Says what is new in a conversation of which several records tell: a model request repeats all that was said before
 * it, and a state holds what a model just said. Changed in place: it lives inside the state of a fold.
 */
export interface Conversation {
  /** The place that another source told the same at; undefined when this is new, and is to be noted. */
  claim(key: string, source: string): number | undefined
  note(key: string, source: string, slot: number): void
  /** The newest place of this key. */
  find(key: string): number | undefined
  /** Of the list that a model is sent, what goes beyond the lists that it was sent before. */
  beyond(list: readonly Utterance[]): { readonly fresh: readonly Utterance[]; readonly thread: string[] }
  /** Of a list that takes the place of a channel's value: how many of the first n of each key are known. */
  readonly channels: Map<string, Map<string, number>>
}

export function createConversation(): Conversation {
  const told = new Map<string, Told[]>()
  /** Lists of keys, one for each conversation with a model. */
  const threads: string[][] = []
  return {
    claim(key, source) {
      const open = told.get(key)?.find(({ sources }) => !sources.has(source))
      open?.sources.add(source)
      return open?.slot
    },
    note(key, source, slot) {
      const place = { slot, sources: new Set([source]) }
      const list = told.get(key)
      if (list) list.push(place)
      else told.set(key, [place])
    },
    find: (key) => told.get(key)?.at(-1)?.slot,
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
