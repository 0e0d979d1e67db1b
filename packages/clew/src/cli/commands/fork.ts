import type { RunSummary } from '@clew/ledger'
import type { ControlOutcome } from '../../operations/schemas.ts'
import { fork } from '../../operations/fork.ts'
import { agentsOf } from '../agent-flag.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { createLiveRun, waitOrDetach } from '../live-run.ts'
import { statusText } from '../marks.ts'
import { exitOf, outcomeLines } from '../outcome.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { printable } from '../text.ts'

export const forkCommand: Command<InputOf<typeof fork>> = ({ input, flags, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const runId = await resolveRun(ledger, input.runId)
    const agents = await agentsOf(flags)
    agents?.of((await ledger.getRun(runId)) as RunSummary)
    const { createControl } = await import('../../control/create-control.ts')
    const live = createLiveRun(terminal)
    let data: ControlOutcome
    try {
      const context = { control: createControl(ledger, { agents }), onEvent: live.onEvent }
      data = await waitOrDetach(fork.run(ledger, { ...input, runId }, context), terminal)
    } finally {
      await live.end()
    }
    const module = text(flags['agent'])
    await terminal.answer(data, () =>
      data.worked ? outcomeLines(terminal, data, module) : recorded(terminal, data),
    )
    return exitOf(data)
  })

function recorded({ output, next }: Terminal, { run }: ControlOutcome): string[] {
  const { colour } = output
  const id = shellWord(printable(run.runId))
  const { forkedFrom } = run
  const shared =
    forkedFrom === null ? '' : `shares ${forkedFrom.seq} events of ${printable(forkedFrom.runId)}, `
  return [
    `${statusText(colour, run.status)}  ${colour.bold(printable(run.runId))}  ${colour.dim(`${shared}waits to be resumed`)}`,
    '',
    colour.dim(`${next(`clew resume ${id} --agent MODULE`)} · ${next(`clew lineage ${id}`)}`),
  ]
}
