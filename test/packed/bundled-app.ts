import { agent, last, openLedger, END, replay, START, StateGraph } from 'clew'

/** What an app does with the library; tests bundle it into one file and run that where no package is installed. */

const [, , url = 'memory:'] = process.argv
const ask = agent('ask', async (run, topic: string) => {
  const facts = await run.effect('search', { topic }, (_, call) => {
    call.usage({ model: 'gpt-4o', inputTokens: 1000, outputTokens: 10 })
    return `facts about ${topic}`
  })
  return run.interrupt<string>({ question: `Publish ${facts}?` })
})

const ledger = await openLedger(url)
const { runId, status } = await ask.start(ledger, 'owls')
const { output } = await ask.resume(ledger, runId, { answer: 'yes' })
const { verdict } = await replay(ask, { ledger, runId })
const graph = new StateGraph({ count: last(0) })
  .addNode('add', ({ count }) => ({ count: count + 1 }))
  .addEdge(START, 'add')
  .addEdge('add', END)
  .compile({ checkpointer: ledger })
const { state } = await graph.invoke({ count: 1 }, { threadId: 'thread' })
const { total } = await ledger.cost({ runId })
const { hits } = await ledger.search('facts')
const { ok } = await ledger.verify()
await ledger.close()
const indexed =
  url === 'memory:' ? undefined : await openLedger(url, { index: true }).catch(({ code }) => code as string)
console.log(
  JSON.stringify({
    status,
    output,
    verdict,
    state,
    isPriced: (total.amount ?? 0) > 0,
    hits: hits.length,
    ok,
    indexed,
  }),
)
