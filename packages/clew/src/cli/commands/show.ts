import type { RunSummary } from '@clew/ledger'
import type { z } from 'zod'
import { show } from '../../operations/show.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText, typeText } from '../marks.ts'
import { compact } from '../preview.ts'
import { resolveRun } from '../resolve-run.ts'
import { stepTree } from '../step-tree.ts'
import type { Terminal } from '../terminal.ts'
import { cut, plural, printable, wrap } from '../text.ts'
import { formatClock, formatDuration, formatLocal, formatRelative } from '../time.ts'

export const showCommand: Command<InputOf<typeof show>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    show.run(ledger, { ...input, runId: await resolveRun(ledger, input.runId) }),
  )
  await terminal.answer(data, () => lines(terminal, data))
  return EXIT.fine
}

type Shown = z.output<typeof show.output>

function lines(terminal: Terminal, data: Shown): string[] {
  const { run, steps, moreSteps, lastEvents } = data
  const { colour } = terminal.output
  const { bold, dim } = colour
  const id = printable(run.runId)
  const result = [
    `${bold(id)}  ${statusText(colour, run.status)}`,
    '',
    ...summary(terminal, run),
    ...pauses(terminal, run),
  ]
  if (steps.length > 0) {
    result.push('', dim('STEPS'), ...stepTree(steps, colour, terminal.width - 2).map((line) => `  ${line}`))
    if (moreSteps > 0)
      result.push(
        dim(
          `  … ${plural(moreSteps, 'more step')}: ${terminal.next(`clew show ${id} --steps ${steps.length + moreSteps}`)}`,
        ),
      )
  }
  if (lastEvents.length > 0) {
    result.push('', dim('LAST EVENTS'))
    for (const { seq, timestamp, eventType } of lastEvents)
      result.push(
        `${dim(`${String(seq).padStart(6)}  ${formatClock(timestamp)}`)}  ${typeText(colour, printable(eventType), 0)}`,
      )
  }
  const next = run.endedAt === null ? `clew tail ${id}` : `clew verify ${id}`
  return [...result, '', dim(`${terminal.next(`clew events ${id}`)} · ${terminal.next(next)}`)]
}

function summary({ output, width }: Terminal, run: RunSummary): string[] {
  const { dim, red } = output.colour
  const facts: [string, string | null][] = [
    [
      'agent',
      run.agent === null
        ? null
        : run.agent + (run.agentVersion === null ? '' : ` (version ${run.agentVersion})`),
    ],
    ['thread', run.threadId],
    ['parent', run.parentRunId],
    ['forked', run.forkedFrom && `from ${run.forkedFrom.runId} after seq ${run.forkedFrom.seq}`],
    ['subjects', run.subjects.length > 0 ? run.subjects.join(', ') : null],
    ['started', `${formatLocal(run.startedAt)} (${formatRelative(run.startedAt, Date.now())})`],
    ['took', run.durationMs === null ? null : formatDuration(run.durationMs)],
    ['record', counts(run)],
    [
      'tokens',
      run.inputTokens + run.outputTokens === 0
        ? null
        : `${number(run.inputTokens)} in, ${number(run.outputTokens)} out`,
    ],
  ]
  const lines = facts
    .filter((fact): fact is [string, string] => fact[1] !== null)
    .map(([name, value]) => `  ${dim(name.padEnd(9))} ${cut(printable(value), width - 12)}`)
  const { error } = run
  if (error) {
    const said = [error.name, error.code, error.message].filter((part) => part !== null).join(': ')
    const [first = '', ...more] = wrap(printable(said), width - 12)
    lines.push(
      `  ${dim('error'.padEnd(9))} ${red(first)}`,
      ...more.map((line) => `${' '.repeat(12)}${red(line)}`),
    )
  }
  return lines
}

function counts({ events, messages, toolCalls, errors }: RunSummary): string {
  const parts = [plural(events, 'event')]
  if (messages > 0) parts.push(plural(messages, 'message'))
  if (toolCalls > 0) parts.push(plural(toolCalls, 'tool call'))
  if (errors > 0) parts.push(plural(errors, 'error'))
  return parts.join(', ')
}

function pauses({ output, width }: Terminal, { pauses: waiting }: RunSummary): string[] {
  const { yellow, dim } = output.colour
  return waiting.flatMap(({ pauseId, question }) => [
    '',
    `  ${yellow('◆ waits for an answer')} ${dim(printable(pauseId))}`,
    ...wrap(printable(typeof question === 'string' ? question : compact(question)), width - 4).map(
      (line) => `    ${line}`,
    ),
  ])
}

const number = (value: number): string => value.toLocaleString('en-US')
