import { stepLabel } from '@clew/ledger'
import type { z } from 'zod'
import { step } from '../../operations/step.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { escapeJson, printable } from '../text.ts'
import { formatDuration } from '../time.ts'

export const stepCommand: Command<InputOf<typeof step>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    step.run(ledger, { ...input, runId: await resolveRun(ledger, input.runId) }),
  )
  await terminal.answer(data, () => lines(terminal, data))
  return EXIT.fine
}

function lines({ output: { colour }, next }: Terminal, data: z.output<typeof step.output>): string[] {
  const { step: found, attempts, input, values, stack } = data
  const run = printable(found.runId)
  const took = found.durationMs === null ? '' : ` · ${formatDuration(found.durationMs)}`
  const tried = attempts > 1 ? ` · attempt ${found.attempt} of ${attempts}` : ''
  const error = found.error?.message ?? found.error?.name
  return [
    `${colour.bold(printable(stepLabel(found.stepId, found.nodeName)))}  ${statusText(colour, found.status)}${colour.dim(` · ${printable(found.kind)}${took}${tried}`)}`,
    ...(error === undefined || error === null ? [] : [colour.red(printable(error))]),
    ...(stack === null ? [] : stack.split('\n').map((frame) => colour.dim(printable(frame)))),
    ...block(colour.dim('in'), input),
    ...block(colour.dim('out'), values),
    '',
    colour.dim(
      `${next(`clew event ${run}:${found.startedSeq}`)}${found.endedSeq === null ? '' : ` · ${next(`clew event ${run}:${found.endedSeq}`)}`}`,
    ),
  ]
}

const block = (title: string, value: unknown): string[] =>
  value === null ? [] : ['', title, escapeJson(JSON.stringify(value, null, 2))]
