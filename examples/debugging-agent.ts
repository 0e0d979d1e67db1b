/**
 * An agent that debugs another one, over MCP alone. A clerk quotes goods; one order was typed with a discount of 15 in
 * place of 0.15, and its run failed. A debugging agent, whose model is a script, lists what failed, asks for an
 * explanation, looks at the cause, forks the run with the order put right, and proves the fork by replay. Each of its
 * calls is a call of a tool; what it did to the clerk's ledger is on record there, under its name.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { agent, openLedger } from 'clew'
import { quote } from './desk/quote.ts'
import { chat } from './model/chat.ts'
import type { ChatMessage } from './model/protocol.ts'
import { type Rule, startScriptedModel } from './model/scripted-model.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-example-'))
const store = `sqlite:${join(folder, 'clerk.db')}`

// What happened: one order went well, the same with another discount did not.
const clerk = await openLedger(store)
const order = { customer: 'ann', goods: ['lantern', 'rope', 'compass'], discount: 0.15 }
const good = await quote.start(clerk, order, { runId: 'quote-1', tags: { task: 'spring order' } })
const bad = await quote.start(
  clerk,
  { ...order, discount: 15 },
  { runId: 'quote-2', tags: { task: 'spring order' } },
)
assert.deepEqual([good.status, bad.status], ['completed', 'failed'])
await clerk.close()

/** The script: from the last answer to the next call, as a model would go on with what it reads. */
const lastOf = (messages: readonly ChatMessage[]): string => messages.at(-1)?.content ?? ''
const calls = (messages: readonly ChatMessage[]): number =>
  messages.filter(({ role }) => role === 'tool').length
const recommended = (text: string) => {
  const [, tool = '', input = '{}'] = /^next: (\w+) (\{.*\})  \(/m.exec(text) ?? []
  return { call: [{ tool, with: JSON.parse(input) as unknown }] }
}
const rules: Rule[] = [
  (messages) =>
    calls(messages) === 0 ? { call: [{ tool: 'list_runs', with: { status: 'failed' } }] } : undefined,
  // The first two answers name the call that is worth making: an explanation, and the cause as it was recorded.
  (messages) => (calls(messages) <= 2 ? recommended(lastOf(messages)) : undefined),
  (messages) => {
    const [, discount] = /"discount":(\d+)/.exec(lastOf(messages)) ?? []
    if (calls(messages) !== 3 || discount === undefined) return undefined
    const input = { ...order, discount: Number(discount) / 100 }
    const reason = `a discount of ${discount} was meant in percent`
    const fork = {
      runId: 'quote-2',
      at: 'get_price',
      input,
      newRunId: 'quote-2-mended',
      reason,
      idempotency_key: 'mend-quote-2',
    }
    return { call: [{ tool: 'fork', with: fork }] }
  },
  (messages) =>
    calls(messages) === 4
      ? { call: [{ tool: 'replay', with: { runId: 'quote-2-mended', reason: 'to prove the fork' } }] }
      : {
          say: 'The discount of quote-2 was typed in percent. quote-2-mended has it as a share, and replays identically.',
        },
]
const model = await startScriptedModel({ apiKey: 'sk-script', rules })

const client = new Client({ name: 'debugging-agent', version: '1.0.0' })
const bin = join(import.meta.dirname, '../packages/clew/bin/clew.mjs')
const desk = join(import.meta.dirname, 'desk/quote.ts')
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', '--store', store, '--allow', 'fork,replay', '--agent', desk],
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
  }),
)

/** The debugger is an agent like any other: its own run is recorded, in a ledger of its own. */
const debuggingAgent = agent('debugger', async (run, { task, url }: { task: string; url: string }) => {
  const messages: ChatMessage[] = [{ role: 'user', content: task }]
  for (;;) {
    const { message } = await run.effect('model', { url, messages }, (request) =>
      chat({
        url: request.url,
        headers: { authorization: 'Bearer sk-script' },
        body: { model: 'script', messages: request.messages },
      }),
    )
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (!call) return message.content
    const text = await run.effect(
      call.function.name,
      { arguments: call.function.arguments },
      async (asked) => {
        const { content } = await client.callTool({
          name: call.function.name,
          arguments: JSON.parse(asked.arguments) as Record<string, unknown>,
        })
        return (content as { text: string }[]).map((part) => part.text).join('')
      },
    )
    messages.push({ role: 'tool', content: text, tool_call_id: call.id })
  }
})
const own = await openLedger('memory:')
const { output, runId } = await debuggingAgent.start(own, {
  task: 'Why did a quote fail? Mend it.',
  url: model.url,
})
await client.close()
await model.close()

const tools = (await own.getSteps(runId)).map(({ nodeName }) => nodeName).filter((name) => name !== 'model')
assert.deepEqual(tools, ['list_runs', 'explain_run', 'get_value', 'fork', 'replay'])
assert.match(String(output), /replays identically/)

// What it left in the clerk's ledger: one fork that is right, and who made it and why.
const after = await openLedger(store, { readOnly: true })
const mended = await after.getRun('quote-2-mended', { values: true })
assert.deepEqual([mended?.status, mended?.output], ['completed', good.output])
const { entries } = await after.compliance()
const made = entries.filter(({ action }) => action === 'agent_call')
assert.deepEqual(
  made.map(({ who, detail }) => [who, detail]),
  [
    ['debugging-agent', 'a discount of 15 was meant in percent'],
    ['debugging-agent', 'to prove the fork'],
  ],
)
const replayed = (await own.getSteps(runId)).find(({ nodeName }) => nodeName === 'replay')
assert.match(String(replayed?.values), /identical: 1 identical/)
await after.close()
await own.close()
rmSync(folder, { recursive: true })
console.log(`${tools.join(' → ')}\n${String(output)}`)
