import { queueList, queueSet, type ShownQueue } from '../../operations/queue.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { pad, printable } from '../text.ts'

type Data = Awaited<ReturnType<typeof queueList.run>>

export const queueListCommand: Command<InputOf<typeof queueList>> = ({ input, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const data = await queueList.run(ledger, input)
    await terminal.answer(data, () => lines(terminal, data))
    return EXIT.fine
  })

export const queueSetCommand: Command<InputOf<typeof queueSet>> = ({ input, terminal, withLedger }) =>
  withLedger(
    async (ledger) => {
      const data = await queueSet.run(ledger, input)
      await terminal.answer(data, () => lines(terminal, data))
      return EXIT.fine
    },
    { readOnly: false, create: true },
  )

function limitsOf({ concurrency, concurrencyPerKey, rate }: ShownQueue): string {
  const parts = [
    concurrency === undefined ? '' : `at most ${concurrency} at a time`,
    concurrencyPerKey === undefined ? '' : `${concurrencyPerKey} of a key`,
    rate ? `${rate.count} in ${rate.perMs} ms` : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'no limits' : parts.join(', ')
}

function lines({ output: { colour }, next }: Terminal, { queues, unserved }: Data): string[] {
  const shown = queues.map((each) => {
    const { queue, waiting, delayed, running } = each
    const counts = `${waiting} waiting, ${delayed} delayed, ${running} running`
    return `${colour.bold(pad(printable(queue), 20))}  ${counts}  ${colour.dim(limitsOf(each))}`
  })
  const missing = unserved.map(({ agent, waiting }) =>
    colour.yellow(`! ${waiting} waiting for agent ${printable(agent)}: no live worker has it`),
  )
  return [
    ...(shown.length === 0 ? ['No queue has limits, and no run waits or runs in one.'] : shown),
    ...missing,
    '',
    colour.dim(next(unserved.length > 0 ? 'clew worker --agent MODULE' : 'clew runs --status pending')),
  ]
}
