import type { worker as operation, WorkerItem } from '../../operations/worker.ts'
import { agentsOf } from '../agent-flag.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { writeLines } from '../lines.ts'
import { statusText } from '../marks.ts'
import type { Terminal } from '../terminal.ts'
import { jsonText, pad, plural, printable } from '../text.ts'
import { formatClock, formatDuration, formatLocal } from '../time.ts'

export const workerCommand: Command<InputOf<typeof operation>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const agents = await agentsOf(flags)
  return withLedger(async (ledger) => {
    const { worker } = await import('../../operations/worker.ts')
    const { signal, json, errors } = terminal
    const onEnd = (): void => {
      // A second signal exits immediately: leases of a dead process are free immediately.
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(130))
      if (!json) errors.stream.write('Shutting down; press again to exit immediately.\n')
    }
    signal.addEventListener('abort', onEnd, { once: true })
    if (!json && agents)
      errors.stream.write(
        `Working on ${printable((input.agentNames ?? agents.names).join(', '))} in ${ledger.url} · Ctrl-C shuts down\n`,
      )
    const format = (item: WorkerItem): string => `${json ? jsonText(item) : line(terminal, item)}\n`
    await writeLines(terminal, worker.run(ledger, input, { agents, signal }), format, true)
    // An effect that does not listen to its signal must not keep the process alive.
    setTimeout(() => process.exit(), 1000).unref()
    return EXIT.fine
  })
}

function line({ output: { colour } }: Terminal, item: WorkerItem): string {
  const { dim, red, yellow } = colour
  const at = dim(formatClock(item.at).slice(0, 8))
  if (item.type === 'swept')
    return `${at}  ${yellow('!')} left by a dead process: ${printable(item.runIds.join(', '))}`
  if (item.type === 'failed') return `${at}  ${red('✗')} ${printable(item.error)}`
  if (item.type === 'housekeeping') {
    const { events, runs, interrupted, errors } = item
    const failed = errors.map((error) => ` · ${red(printable(error))}`).join('')
    return `${at}  ${dim(`housekeeping  ${plural(events, 'event')} of ${plural(runs, 'run')} deleted, ${interrupted} interrupted`)}${failed}`
  }
  const run = `${pad(printable(item.runId), 24)}  ${pad(printable(item.agent), 16)}`
  switch (item.type) {
    case 'taken':
      return `${at}  ${colour.cyan('▸ taken')}        ${run}  ${dim(`was ${item.why}`)}`
    case 'ended': {
      const { status, dueAt, error, ms } = item
      const until = status === 'pending' && dueAt !== null ? `until ${formatLocal(dueAt)}` : ''
      const more = error === null ? until : red(printable(error))
      const mark = statusText(colour, status)
      const gap = ' '.repeat(Math.max(1, 13 - status.length))
      return `${at}  ${mark}${gap}${run}  ${dim(formatDuration(ms))}  ${more}`.trimEnd()
    }
    case 'postponed':
      return `${at}  ${yellow('○ postponed')}    ${run}  ${printable(item.error)}`
    case 'blocked':
      return `${at}  ${red('◆ blocked')}      ${run}  its process died ${item.crashes} times without progress`
  }
}
