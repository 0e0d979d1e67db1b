import type { RunSummary } from '@clew/ledger'
import type { z } from 'zod'
import { debug } from '../../operations/debug.ts'
import { agentsOf } from '../agent-flag.ts'
import { ask } from '../ask.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { exitOf, outcomeLines } from '../outcome.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import { suspectLines } from '../suspect-lines.ts'
import type { Terminal } from '../terminal.ts'
import { cut, printable } from '../text.ts'

type Answer = z.output<typeof debug.output>
const ASK_MS = 600_000

export const debugCommand: Command<InputOf<typeof debug>> = ({ input, flags, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const runId = await resolveRun(ledger, input.runId)
    const agents = await agentsOf(flags)
    agents?.of((await ledger.getRun(runId)) as RunSummary)
    const { createControl } = await import('../../control/create-control.ts')
    const context = { control: createControl(ledger, { agents }) }
    const module = text(flags['agent'])
    let data = await debug.run(ledger, { ...input, runId }, context)
    // Somebody who names the code and sits at the terminal is asked; a script says --fork.
    if (!data.fork && data.forkAt && agents && terminal.interactive && !terminal.json) {
      await terminal.print(lines(terminal, data, module))
      const said = await ask(
        `\nFork before ${placeText(data.forkAt)} with the code as it is now? [y/N] `,
        ASK_MS,
        terminal.signal,
      )
      if (said === undefined || !/^y(?:es)?$/i.test(said.trim())) return EXIT.fine
      data = await debug.run(ledger, { runId, fork: true }, context)
      if (data.fork) await terminal.print(outcomeLines(terminal, data.fork, module))
      return data.fork ? exitOf(data.fork) : EXIT.fine
    }
    await terminal.answer(data, () => lines(terminal, data, module))
    return data.fork ? exitOf(data.fork) : EXIT.fine
  })

function lines(terminal: Terminal, data: Answer, module: string | undefined): string[] {
  const { explanation, cause, forkAt, fork } = data
  const { run, place } = explanation
  const { colour } = terminal.output
  const id = shellWord(printable(run.runId))
  const error = place?.error ?? run.error?.message
  return [
    `${colour.bold(printable(run.runId))}  ${statusText(colour, run.status)}${run.agent === null ? '' : `  ${colour.dim(printable(run.agent))}`}`,
    ...(place
      ? [
          `  ${colour.dim('failure')}  ${printable(place.stepId ?? place.name)}${error === undefined || error === null ? '' : `  ${colour.red(cut(printable(error), terminal.width - 24))}`}`,
        ]
      : []),
    '',
    ...suspectLines(terminal, explanation.suspects),
    ...(cause
      ? cause.text
          .split('\n')
          .slice(0, 12)
          .map((line) => colour.dim(`  ${cut(printable(line), terminal.width - 4)}`))
      : []),
    '',
    ...(fork
      ? outcomeLines(terminal, fork, module)
      : [
          colour.dim(
            [
              ...(forkAt
                ? [
                    terminal.next(
                      `clew fork ${id} --at ${shellWord(placeText(forkAt))} --agent ${module === undefined ? 'MODULE' : shellWord(module)}`,
                    ),
                  ]
                : []),
              ...(explanation.lastGood
                ? [terminal.next(`clew diff ${shellWord(printable(explanation.lastGood.runId))} ${id}`)]
                : []),
              terminal.next(`clew explain ${id}`),
            ].join(' · '),
          ),
        ]),
  ]
}

const placeText = (at: NonNullable<Answer['forkAt']>): string => ('step' in at ? at.step : `seq:${at.seq}`)
