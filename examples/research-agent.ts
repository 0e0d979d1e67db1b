/**
 * An agent that looks things up: a model asks for tools, tools answer, until it knows enough. Its process is killed in
 * the middle of a model call. It goes on in another one, and no call that had been answered is made, or paid for, again.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, openLedger } from 'clew'
import { chat } from './model/chat.ts'
import type { ChatMessage } from './model/protocol.ts'
import { type Rule, startScriptedModel } from './model/scripted-model.ts'

const KEY = 'sk-proj-9fKx81mQpz7Lr2Vt9Wn4YcB3dE6hJ'
const MODEL = 'gpt-4.1-mini'
const PAGES: Readonly<Record<string, string>> = {
  'owls/diet': 'A barn owl eats about 4 voles a night.',
  'owls/count': 'In 2025 the island had 31 pairs of barn owls.',
}

interface Question {
  readonly question: string
  readonly modelUrl: string
  readonly folder: string
}

const research = agent(
  'research',
  async (run, { question, modelUrl, folder }: Question) => {
    const messages: ChatMessage[] = [
      { role: 'system', content: 'Answer with what the tools tell you.' },
      { role: 'user', content: question },
    ]
    for (;;) {
      const request = {
        url: modelUrl,
        // Recorded without the key. In the run's own input it would block a resume: what is not stored is gone.
        headers: { authorization: `Bearer ${process.env['MODEL_KEY']}` },
        body: { model: MODEL, messages, tools: Object.keys(tools) },
      }
      const { message } = await run.effect(
        'model',
        request,
        async (request, call) => {
          const { idempotencyKey, signal } = call
          const answer = await chat(request, { idempotencyKey, signal, onToken: run.token })
          const { prompt_tokens, completion_tokens } = answer.usage
          call.usage({ model: answer.model, inputTokens: prompt_tokens, outputTokens: completion_tokens })
          return answer
        },
        { retry: { tries: 3, delayMs: 20, when: ({ code }) => code === 'http_429' }, timeoutMs: 10_000 },
      )
      messages.push(message)
      if (!message.tool_calls) return message.content ?? ''
      const results = message.tool_calls.map(async ({ id, function: { name, arguments: text } }) => {
        const use = tools[name as keyof typeof tools]
        const content = await run.effect(name, JSON.parse(text) as Record<string, string>, (input) => {
          appendFileSync(join(folder, 'tools.txt'), `${name} ${text}\n`)
          return use(input)
        })
        return { role: 'tool' as const, tool_call_id: id, content }
      })
      messages.push(...(await Promise.all(results)))
    }
  },
  { budget: { steps: 40, cost: 0.05 } },
)

const tools = {
  search: ({ words = '' }: Record<string, string>) =>
    Object.keys(PAGES).find((page) => page.endsWith(words)) ?? 'nothing found',
  read_page: ({ page = '' }: Record<string, string>) => PAGES[page] ?? 'there is no such page',
  calculator: ({ sum = '' }: Record<string, string>) =>
    String(sum.split('*').reduce((product, factor) => product * Number(factor), 1)),
}

/** What the model says, by how much it has been told. */
const told = (messages: readonly ChatMessage[]): number =>
  messages.filter(({ role }) => role === 'tool').length
const RULES: readonly Rule[] = [
  (messages) =>
    told(messages) === 0
      ? { call: ['diet', 'count'].map((words) => ({ tool: 'search', with: { words } })) }
      : undefined,
  (messages) =>
    told(messages) === 2
      ? { call: messages.slice(-2).map(({ content }) => ({ tool: 'read_page', with: { page: content } })) }
      : undefined,
  (messages) =>
    told(messages) === 4 ? { call: [{ tool: 'calculator', with: { sum: '31*2*4*365' } }] } : undefined,
  (messages) => ({ say: `About ${messages.at(-1)?.content} voles a year: 31 pairs, 4 voles a night each.` }),
]

if (process.argv[2] === 'worker') {
  const [url = '', input = ''] = process.argv.slice(3)
  await research.start(await openLedger(url), JSON.parse(input) as Question, { runId: 'voles' })
} else await story()

async function story(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-research-'))
  const thinking = Promise.withResolvers<void>()
  const model = await startScriptedModel({
    apiKey: KEY,
    rules: RULES,
    fault(request) {
      if (request === 4) thinking.resolve()
      return request === 2 ? { status: 429 } : request === 4 ? { delayMs: 400 } : undefined
    },
  })
  const url = `sqlite:${join(folder, 'clew.db')}`
  const ledger = await openLedger(url)
  process.env['MODEL_KEY'] = KEY
  try {
    const question = {
      question: 'How many voles do the owls of the island eat?',
      modelUrl: model.url,
      folder,
    }
    const worker = fork(import.meta.filename, ['worker', url, JSON.stringify(question)])
    for await (const { payload } of ledger.follow({ runId: 'voles', types: ['execution.step_started'] }))
      if (payload['stepId'] === 'model#2') break
    await thinking.promise
    worker.kill('SIGKILL')
    await once(worker, 'close')
    const before = await ledger.getSteps('voles')
    console.log('killed while the model was thinking; in the ledger:')
    for (const { nodeName, attempt, status, error } of before)
      console.log(`  ${nodeName} ${attempt}: ${status} ${error?.message ?? ''}`)

    const { status, output, log } = await research.resume(ledger, 'voles')
    console.log(`\nresumed: ${status}. ${output}\n${log.table()}`)
    assert.equal(status, 'completed')
    assert.match(output ?? '', /90520 voles/)

    // Nothing that had an answer was asked again; what was under way came back with the same key.
    const used = readFileSync(join(folder, 'tools.txt'), 'utf8').trim().split('\n')
    console.log(
      `\ntools used ${used.length} times; model asked ${model.requests} times, paid for ${model.paid.size}`,
    )
    assert.deepEqual([used.length, new Set(used).size], [5, 5])
    assert.equal(model.paid.size, 4)
    assert.equal(model.requests, 6, '4 answers, one "slow down", one that was cut')

    const { total } = await ledger.cost({ runId: 'voles' })
    console.log(`${total.inputTokens} + ${total.outputTokens} tokens, $${total.amount?.toFixed(6)}`)
    const paid = [...model.paid.values()].reduce((sum, { usage }) => sum + usage.prompt_tokens, 0)
    assert.equal(total.inputTokens, paid)

    const poor = await research.start(ledger, question, { runId: 'poor', budget: { tokens: 100 } })
    console.log(`\nwith a budget of 100 tokens: ${poor.status}, ${poor.error?.message}`)
    assert.equal(poor.status, 'stopped')

    process.env['MODEL_KEY'] = `${KEY}-old`
    const denied = await research.start(ledger, question, { runId: 'denied' })
    assert.equal(denied.status, 'failed')
    for await (const { payload } of ledger.read('denied', {
      types: ['execution.step_started', 'execution.step_failed'],
    }))
      console.log(payload['error'] ?? (payload['input'] as { headers: unknown }).headers)
    for (const file of readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile()))
      assert.ok(!readFileSync(join(folder, file.name)).includes(KEY), `${file.name} holds the key`)
    assert.equal((await ledger.verify()).ok, true)
  } finally {
    await ledger.close()
    await model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
