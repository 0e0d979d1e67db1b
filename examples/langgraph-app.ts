/**
 * A LangGraph.js app on Clew. A night guard of an owl station asks how many boxes to order: the graph calls a tool, asks a
 * person, is asked again from an earlier checkpoint with other numbers, and remembers the outcome. Checkpoints, long-term memory
 * and callbacks all go to one ledger, which a second process could read while it happens.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { Command, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { formatTranscriptText, type Ledger, openLedger } from 'clew'
import { ClewCallbackHandler } from 'clew/langchain'
import { ClewSaver, ClewStore } from 'clew/langgraph'

/** Stands in for a model behind HTTP: asks for the tool once, then says what the tool said. */
class OwlModel extends BaseChatModel {
  _llmType(): string {
    return 'owl'
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const last = messages.at(-1)
    const message =
      last?.type === 'tool'
        ? new AIMessage({ content: `We need ${last.text} boxes.` })
        : new AIMessage({
            content: '',
            tool_calls: [
              {
                id: `call-${messages.length}`,
                name: 'count_boxes',
                args: { owls: Number(/\d+/.exec(last?.text ?? '')?.[0]) },
              },
            ],
          })
    const tokens = { input_tokens: 40 * messages.length, output_tokens: 12 }
    message.response_metadata = { model_name: 'gpt-4o-mini', usage: tokens }
    return { generations: [{ text: message.text, message }] }
  }
}

const countBoxes = tool(({ owls }: { owls: number }) => String(Math.ceil(owls / 2)), {
  name: 'count_boxes',
  description: 'How many nest boxes that many owls need',
  schema: { type: 'object', properties: { owls: { type: 'number' } }, required: ['owls'] },
})

const model = new OwlModel({})

function createApp(ledger: Ledger) {
  return new StateGraph(MessagesAnnotation)
    .addNode('think', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode([countBoxes]))
    .addNode('order', async ({ messages }, { store, configurable }) => {
      const proposal = messages.at(-1)?.text
      const answer: string = interrupt({ question: `${proposal} Order them?` })
      await store?.put(['orders', String(configurable?.['thread_id'])], 'last', { proposal, answer })
      return { messages: [new AIMessage(answer === 'yes' ? 'Ordered.' : 'Left alone.')] }
    })
    .addEdge(START, 'think')
    .addConditionalEdges(
      'think',
      ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : 'order'),
      ['tools', 'order'],
    )
    .addEdge('tools', 'think')
    .addEdge('order', END)
    .compile({ name: 'owl-station', checkpointer: new ClewSaver(ledger), store: new ClewStore(ledger) })
}

const folder = mkdtempSync(join(tmpdir(), 'clew-langgraph-'))
const url = `sqlite:${join(folder, 'ledger.db')}`
try {
  // 1. Ask. The graph stops at its question, and the process may end here.
  let ledger = await openLedger(url)
  const config = () => ({
    configurable: { thread_id: 'night-1' },
    callbacks: [new ClewCallbackHandler({ ledger })],
  })
  await createApp(ledger).invoke({ messages: [new HumanMessage('There are 7 owls.')] }, config())
  await ledger.close()

  // 2. Another process answers.
  ledger = await openLedger(url)
  let app = createApp(ledger)
  const { tasks } = await app.getState(config())
  assert.deepEqual(tasks[0]?.interrupts[0]?.value, { question: 'We need 4 boxes. Order them?' })
  const done = await app.invoke(new Command({ resume: 'yes' }), config())
  assert.equal(done.messages.at(-1)?.text, 'Ordered.')
  await ledger.close()

  // 3. What if there had been more? Back to the checkpoint after the question was put, another number, and on from there.
  ledger = await openLedger(url)
  app = createApp(ledger)
  const history = await Array.fromAsync(app.getStateHistory(config()))
  const asked = history.find(({ next, values }) => next[0] === 'think' && values.messages.length === 1)
  assert.ok(asked)
  const [question] = asked.values.messages as [HumanMessage]
  const fork = await app.updateState(asked.config, {
    messages: [new HumanMessage({ content: 'There are 20 owls.', ...(question.id && { id: question.id }) })],
  })
  const onFork = { ...config(), configurable: { ...fork.configurable } }
  await app.invoke(null, onFork)
  const declined = await app.invoke(new Command({ resume: 'no' }), config())
  assert.deepEqual(
    declined.messages.map((message) => message.text),
    ['There are 20 owls.', '', '10', 'We need 10 boxes.', 'Left alone.'],
  )

  // The first line is untouched: its last checkpoint still says what it said.
  const first = history[0]
  assert.ok(first)
  assert.equal((await app.getState(first.config)).values.messages.at(-1)?.text, 'Ordered.')

  // 4. What the ledger knows of all this.
  const memory = await new ClewStore(ledger).search(['orders'])
  assert.deepEqual(
    memory.map(({ value }) => value['answer']),
    ['no'],
  )

  const { runs } = await ledger.listRuns({ threadId: 'night-1', limit: 100 })
  const told = runs.filter(({ agent, modelCalls }) => agent === 'owl-station' && modelCalls > 0)
  assert.ok(told.length >= 2 && told.every(({ status }) => status === 'completed'))
  const oldest = told.at(-1)
  assert.ok(oldest)
  const steps = await ledger.getSteps(oldest.runId)
  assert.deepEqual(
    steps.filter(({ kind }) => kind === 'node').map(({ nodeName, status }) => `${nodeName} ${status}`),
    ['think completed', 'tools completed', 'think completed', 'order completed'],
  )
  const { total } = await ledger.cost({ runId: oldest.runId })
  assert.equal(total.modelCalls, 2)
  assert.ok((total.amount ?? 0) > 0)

  // The runs hold the states and the calls: the second line is a fork of the first, and they part at the first call of the
  // model with the other number.
  const branch = runs.find(({ forkedFrom }) => forkedFrom !== null)
  assert.ok(branch?.forkedFrom)
  const { first: parting, state } = await ledger.diff(branch.forkedFrom.runId, branch.runId)
  assert.equal(parting?.received?.name, 'OwlModel')
  assert.ok(state.length > 0)
  const before = await ledger.getState(branch.runId, { superstep: 1 })
  assert.equal((before?.state['messages'] as unknown[] | undefined)?.length, 1)
  assert.ok((await ledger.verify()).ok)

  console.log(formatTranscriptText(await ledger.transcript(oldest.runId)))
  console.log(
    `${runs.length} runs in thread night-1, ${total.modelCalls} model calls in the first: ${total.amount} USD`,
  )
  await ledger.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
