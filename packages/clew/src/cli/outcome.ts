import { isTerminal } from '@clew/ledger'
import type { ControlOutcome } from '../operations/schemas.ts'
import { EXIT } from './failure.ts'
import { statusText } from './marks.ts'
import { compact } from './preview.ts'
import { questionLines, shellWord } from './question.ts'
import type { Terminal } from './terminal.ts'
import { cut, printable, wrap } from './text.ts'
import { formatDuration, formatLocal } from './time.ts'

/** 1 when the run came to no good end (R0), 0 when it ended well, waits or was stopped. */
export const exitOf = ({ run: { status } }: ControlOutcome): number =>
  status === 'failed' || status === 'blocked' ? EXIT.no : EXIT.fine

/** Shows the status of a resumed run and the next commands. */
export function outcomeLines(
  terminal: Pick<Terminal, 'output' | 'width' | 'next'>,
  { run, output, divergence, warnings }: ControlOutcome,
  agent: string | undefined,
): string[] {
  const { output: side, width, next } = terminal
  const { colour } = side
  const { runId, status, durationMs, error, dueAt, pauses } = run
  const took = durationMs === null ? '' : `  ${colour.dim(formatDuration(durationMs))}`
  const lines = [`${statusText(colour, status)}  ${colour.bold(printable(runId))}${took}`]
  const fact = (name: string, value: string, style = (text: string) => text): void => {
    const [first = '', ...more] = wrap(printable(value), width - 13)
    lines.push(
      `  ${colour.dim(name.padEnd(9))}  ${style(first)}`,
      ...more.map((line) => ' '.repeat(13) + style(line)),
    )
  }
  if (status === 'completed' && output !== null) fact('output', cut(compact(output), 4 * width))
  if (error) fact('error', [error.name, error.code, error.message].filter(Boolean).join(': '), colour.red)
  for (const warning of warnings) fact('note', warning, colour.yellow)
  if (divergence) {
    fact(
      'diverged',
      `${divergence.kind}${divergence.stepId === null ? '' : ` at ${divergence.stepId}`}`,
      colour.red,
    )
    fact('expected', compact(divergence.expected))
    fact('received', compact(divergence.received))
  }
  if (status === 'pending' && dueAt !== null) fact('sleeps', `until ${formatLocal(dueAt)}`)
  lines.push(...questionLines(terminal, run, agent))
  const id = shellWord(printable(runId))
  const module = agent === undefined ? 'MODULE' : shellWord(agent)
  const last = [next(`clew show ${id}`)]
  if (status === 'failed' || status === 'blocked') last.unshift(next(`clew explain ${id}`))
  if (status === 'failed') last.unshift(next(`clew fork ${id} --retry --agent ${module}`))
  else if (divergence && divergence.stepId !== null)
    last.unshift(next(`clew fork ${id} --at ${shellWord(divergence.stepId)} --agent ${module}`))
  else if (!isTerminal(status) && pauses.length === 0 && status !== 'running')
    last.unshift(next(`clew resume ${id} --agent ${module}`))
  return [...lines, '', colour.dim(last.join(' · '))]
}
