import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import type { Ledger } from 'clew'
import { encode } from 'gpt-tokenizer'
import { createEndpointForBench } from './connect.ts'

export interface Found {
  /** Id of the event that it names as the cause; null: nothing found. */
  readonly eventId: string | null
  readonly calls: number
  readonly tokens: number
  readonly milliseconds: number
}

const MAX_CALLS = 5

/**
 * A client without judgement: it asks for an explanation, makes the calls that answers recommend, in their order, and names
 * the first event that an answer calls the likely cause.
 */
export async function findCause(ledger: Ledger, runId: string): Promise<Found> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await createEndpointForBench(ledger, theirs)
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(ours)
  let calls = 0
  let tokens = 0
  let milliseconds = 0
  let eventId: string | null = null
  const made = new Set<string>()
  const waiting: [string, Record<string, unknown>][] = [['explain_run', { runId }]]
  // The cause is looked at once it is named: one call more, as an agent would make it.
  for (let after = Number.POSITIVE_INFINITY; calls < MAX_CALLS && after > 0; after--) {
    const call = waiting.shift()
    if (!call) break
    const [name, input] = call
    made.add(JSON.stringify(call))
    const began = performance.now()
    const { content } = await client.callTool({ name, arguments: input })
    milliseconds = Math.max(milliseconds, performance.now() - began)
    const text = (content as { text: string }[]).map((part) => part.text).join('')
    calls++
    tokens += encode(text).length
    const named = /^likely cause: event ([0-9a-f-]{36})/m.exec(text)?.[1]
    if (named !== undefined && eventId === null) {
      eventId = named
      after = 2
    }
    if (text.includes('\nnothing found')) break
    for (const [, tool = '', args = ''] of text.matchAll(/^next: (\w+) (\{.*\})  \(/gm)) {
      const hinted: [string, Record<string, unknown>] = [tool, JSON.parse(args) as Record<string, unknown>]
      if (!made.has(JSON.stringify(hinted))) waiting.push(hinted)
    }
  }
  await client.close()
  return { eventId, calls, tokens, milliseconds }
}

/** Tokens of all events of the run, as a server that dumps them would send them. */
export async function dumpTokens(ledger: Ledger, runId: string): Promise<number> {
  let tokens = 0
  for await (const event of ledger.read(runId)) tokens += encode(JSON.stringify(event)).length
  return tokens
}
