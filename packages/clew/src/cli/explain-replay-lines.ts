import type { Delta, Explanation } from '@clew/ledger'
import type { z } from 'zod'
import type { explain } from '../operations/explain.ts'
import { DIVERGENCES } from '../replay/report-lines.ts'
import { divergenceLines } from './divergence-lines.ts'
import { statusText } from './marks.ts'
import { formatMoney } from './money.ts'
import { shellWord } from './question.ts'
import type { Terminal } from './terminal.ts'
import { printable, wrap } from './text.ts'
import { formatDuration } from './time.ts'

type Answer = z.output<typeof explain.output>

/** Whether it happens again from the record, and where; or how to find out. */
export function replayFindingLines(
  { output, width, next }: Terminal,
  { run, place, isReplayable, replay }: Explanation & Pick<Answer, 'isReplayable' | 'replay'>,
  module: string | undefined,
): string[] {
  const { dim, green, red } = output.colour
  const id = shellWord(printable(run.runId))
  if (!replay && !isReplayable) return []
  if (!replay)
    return [dim('REPLAY'), `  Does it reproduce offline? ${dim(next(`clew explain ${id} --agent MODULE`))}`]
  const say = (text: string): string[] => wrap(printable(text), width - 4).map((line) => `    ${line}`)
  const { divergence, reproduced, outside, outcome } = replay
  if (divergence) {
    const where = divergence.stepId ?? 'the run itself'
    return [
      `${dim('REPLAY')}  ${red('✗')} today’s code diverges from the record`,
      ...say(
        `${divergence.kind} at ${where}: ${DIVERGENCES[divergence.kind]}; it now comes to ${outcome.status}`,
      ),
      `    ${dim(next(`clew replay ${id} --agent ${shellWord(module ?? 'MODULE')}`))}`,
    ]
  }
  const at = place?.stepId ?? place?.name ?? 'the run itself'
  const what =
    run.status !== 'failed'
      ? 'today’s code does all that was recorded'
      : outside
        ? `reproduced at ${at}: recorded results are restored, and the code fails on them`
        : `reproduced at ${at}: the code fails the same way, with nothing but the record`
  return [`${dim('REPLAY')}  ${reproduced ? green('✓') : red('✗')} ${printable(what)}`]
}

/** Shows the result of a what-if. */
export function whatIfLines(
  { output, width, next }: Terminal,
  { runId, status, first, deltas, same }: NonNullable<Answer['whatIf']>,
): string[] {
  const { colour } = output
  const facts = [
    change('steps', deltas.steps, String),
    change('tokens out', deltas.outputTokens, String),
    change('cost', deltas.cost, formatMoney),
    change('time', deltas.durationMs, formatDuration),
  ].filter((each) => each !== undefined)
  return [
    `${colour.dim('WHAT IF')}  ${statusText(colour, status)}  ${printable(runId)}${facts.length > 0 ? colour.dim(`  ${facts.join(', ')}`) : ''}`,
    ...(same ? [colour.dim('  the same as recorded')] : []),
    ...(first ? divergenceLines(colour, width, { ...first, changes: first.changes.slice(0, 2) }) : []),
    `  ${colour.dim(next(`clew show ${shellWord(printable(runId))}`))}`,
  ]
}

function change(name: string, { delta }: Delta, format: (value: number) => string): string | undefined {
  if (delta === null || delta === 0) return undefined
  return `${delta > 0 ? '+' : '-'}${format(Math.abs(delta))} ${name}`
}
