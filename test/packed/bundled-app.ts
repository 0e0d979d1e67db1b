import { agent, END, last, openLedger, replay, START, StateGraph } from 'clew'

/** An app that uses the library. Tests bundle it and run the bundle in a folder without packages. */

const ask = agent('ask', async (run, topic: string) => {
  const facts = await run.effect('search', { topic }, (_, call) => {
    call.usage({ model: 'gpt-4o', inputTokens: 1000, outputTokens: 10 })
    return `facts about ${topic}`
  })
  return run.interrupt<string>({ question: `Publish ${facts}?` })
})

const graph = new StateGraph({ count: last(0) })
  .addNode('add', ({ count }) => ({ count: count + 1 }))
  .addEdge(START, 'add')
  .addEdge('add', END)
  .compile()

// No top-level await: bundles in CommonJS cannot have it.
async function main(url: string): Promise<void> {
  const ledger = await openLedger(url)
  const { runId, status } = await ask.start(ledger, 'owls')
  const { output } = await ask.resume(ledger, runId, { answer: 'yes' })
  const { verdict } = await replay(ask, { ledger, runId })
  const { state } = await graph.withCheckpointer(ledger).invoke({ count: 1 }, { threadId: 'thread' })
  const { amount } = (await ledger.cost({ runId })).total
  const { hits } = await ledger.search('facts')
  const { ok } = await ledger.verify()
  await ledger.close()
  const index = await openLedger(url, { index: true }).catch(({ code }) => code as string)
  const isPriced = amount !== null && amount > 0
  console.log(JSON.stringify({ status, output, verdict, state, isPriced, hits: hits.length, ok, index }))
}

void main(process.argv[2] ?? '')
