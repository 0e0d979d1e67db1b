import { describe, expect, it } from 'vitest'
import type { ChatMessage } from './chat-protocol.ts'
import { nextReply, type Reply } from './script.ts'
import { NOT_PUBLISHED, PUBLISHED, useTool } from './tools.ts'

const user = (content: string): ChatMessage => ({ role: 'user', content })
/** What an agent does with a reply: asks for the tools and tells what they gave. */
async function after(
  messages: readonly ChatMessage[],
  reply: Reply,
  publish: string,
): Promise<ChatMessage[]> {
  const calls = (reply.calls ?? []).map(({ tool, with: given }, at) => ({
    tool,
    given,
    id: `${messages.length}-${at}`,
  }))
  const results = await Promise.all(
    calls.map(async ({ tool, given, id }): Promise<ChatMessage> => {
      const result =
        tool === 'publish' ? { content: publish } : await useTool(tool, given, { board: '', isFast: true })
      return { role: 'tool', tool_call_id: id, content: JSON.stringify(result) }
    }),
  )
  const tool_calls = calls.map(({ tool, given, id }) => ({
    id,
    type: 'function' as const,
    function: { name: tool, arguments: JSON.stringify(given) },
  }))
  return [...messages, { role: 'assistant', content: null, tool_calls }, ...results]
}
async function converse(question: string, publish = PUBLISHED): Promise<{ tools: string[]; said: string }> {
  let messages: ChatMessage[] = [{ role: 'system', content: 'system' }, user(question)]
  const tools: string[] = []
  for (let turn = 0; turn < 6; turn++) {
    const reply = nextReply(messages)
    if (reply.say !== undefined) return { tools, said: reply.say }
    tools.push(...(reply.calls ?? []).map(({ tool }) => tool))
    messages = await after(messages, reply, publish)
  }
  throw new Error('it never answered')
}

describe('the scripted model', () => {
  it('searches, reads, and answers out of the notes', async () => {
    const { tools, said } = await converse('Which owls hunt by day?')
    expect(tools[0]).toBe('search_notes')
    expect(tools.slice(1)).toContain('read_note')
    expect(said).toContain('northern hawk-owl')
    expect(said).toContain('[1] Owls that hunt by day')
  })

  it('asks to publish when it is told to, and takes no for an answer', async () => {
    const yes = await converse('Why do owls fly so quietly? Publish it')
    expect([yes.tools.at(-1), yes.said.endsWith('\n\nPublished.')]).toEqual(['publish', true])
    const no = await converse('Why do owls fly so quietly? Publish it', NOT_PUBLISHED)
    expect(no.said.endsWith('\n\nNot published.')).toBe(true)
  })

  it('makes nothing up', async () => {
    expect((await converse('What about quantum chromodynamics?')).said).toContain('found nothing')
    expect((await converse('hello')).said).toContain('Ask me something about owls')
  })

  it('goes on the same way in the same conversation', () => {
    const messages = [user('How do owls hear?')]
    expect(nextReply(messages)).toEqual(nextReply(messages))
  })

  it('calls nothing when it may not', async () => {
    const read = { tool: 'read_note', with: { file: 'hearing.md' } }
    const messages = await after([user('How do owls hear? Publish it')], { thought: '', calls: [read] }, '')
    expect(nextReply(messages, true).calls?.[0]?.tool).toBe('publish')
    expect(nextReply(messages, false).say).toContain('barn owl')
  })
})
