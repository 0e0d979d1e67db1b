import { Command } from '@langchain/langgraph'
import { openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { approvals, thread } from './graphs.ts'

/**
 * Asks in thread after thread, eight at a time and with default durability, until it is killed; says whose questions are
 * committed. With `answer` it also answers the first question of each, and says whose answers are committed.
 */
const [url = '', from = '0', isAnswering] = process.argv.slice(2)
const ledger = await openLedger(url)
let next = Number(from)
await Promise.all(
  Array.from({ length: 8 }, async () => {
    const graph = approvals(new ClewSaver(ledger))
    for (;;) {
      const name = `t${next++}`
      await graph.invoke({ lines: [] }, thread(name))
      process.stdout.write(`${JSON.stringify(name)}\n`)
      if (isAnswering === undefined) continue
      const { tasks } = await graph.getState(thread(name))
      const one = tasks.flatMap(({ interrupts }) => interrupts).find(({ value }) => value === 'one?')
      await graph.invoke(new Command({ resume: { [one?.id ?? '']: 'yes' } }), thread(name))
      process.stdout.write(`${JSON.stringify(`answered ${name}`)}\n`)
    }
  }),
)
