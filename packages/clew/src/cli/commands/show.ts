import { scoreLine } from './score.ts'
import { tagLine } from './tag.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ledger, RunSummary } from '@clew/ledger'
import type { z } from 'zod'
import { formatCount } from '../../format-count.ts'
import type { RunTreeRow } from '../../operations/run-tree.ts'
import { show } from '../../operations/show.ts'
import { tail } from '../../operations/tail.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText, typeText } from '../marks.ts'
import { formatCost } from '../money.ts'
import { compact } from '../preview.ts'
import { questionLines, shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import { createScreen } from '../screen.ts'
import { stepTree } from '../step-tree.ts'
import type { Terminal } from '../terminal.ts'
import { cut, plural, printable, textWidth, wrap } from '../text.ts'
import { formatClock, formatDuration, formatLocal, formatRelative } from '../time.ts'

export const showCommand: Command<InputOf<typeof show>> = async ({ input, flags, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) => {
    // People see a line of each; a program asks for them, since they may be large.
    const asked = {
      ...input,
      values: input.values ?? !terminal.json,
      runId: await resolveRun(ledger, input.runId),
    }
    if (flags['watch'] === true) await watch(terminal, ledger, asked)
    return show.run(ledger, asked)
  })
  await terminal.answer(data, () => lines(terminal, data))
  return EXIT.fine
}

const REDRAW_MS = 100

/** Draws the run again after what happens to it, until it ends or Ctrl-C; elsewhere than on a terminal it only waits. */
async function watch(terminal: Terminal, ledger: Ledger, asked: InputOf<typeof show>): Promise<void> {
  const visible = terminal.output.isTerminal && !terminal.json
  const screen = createScreen(terminal)
  const draw = async (): Promise<void> => {
    if (visible) await screen.draw(lines(terminal, await show.run(ledger, asked)))
  }
  const { runId } = asked
  const following = new AbortController()
  const stop = (): void => following.abort()
  let failure: unknown
  let drawing: Promise<void> | undefined
  let again = false
  const drawUntilCalm = async (): Promise<void> => {
    do {
      again = false
      await sleep(REDRAW_MS)
      await draw()
    } while (again)
  }
  /** At most once in a while, and never less than once after the last event. */
  const drawSoon = (): void => {
    again = true
    drawing ??= drawUntilCalm()
      .catch((error: unknown) => {
        failure = error
        stop()
      })
      .finally(() => (drawing = undefined))
  }
  terminal.signal.addEventListener('abort', stop)
  if (terminal.signal.aborted) stop()
  try {
    await draw()
    const events = tail.run(ledger, { runId, untilEnd: true, history: true }, { signal: following.signal })
    for await (const _ of events) if (visible) drawSoon()
    await drawing
  } finally {
    terminal.signal.removeEventListener('abort', stop)
    if (visible) await screen.clear()
  }
  if (failure instanceof Error) throw failure
}

type Shown = z.output<typeof show.output>

function unreadLines({ run, unread }: Shown): string[] {
  const more = (run.signals?.unread ?? 0) - unread.length
  return [
    ...unread.map(
      ({ seq, name, by, timestamp }) =>
        `  ${seq}  ${printable(name)}${by === null ? '' : ` by ${printable(by)}`}  ${formatClock(timestamp)}`,
    ),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ]
}

function lines(terminal: Terminal, data: Shown): string[] {
  const { run, values, owner, steps, moreSteps, lastEvents, unread, warnings, tree, gaps } = data
  const { colour } = terminal.output
  const { bold, dim } = colour
  const id = printable(run.runId)
  const result = [
    `${bold(id)}  ${statusText(colour, run.status)}`,
    '',
    ...summary(terminal, run, owner, values),
    ...questionLines(terminal, run),
  ]
  if (warnings.length > 0) result.push('', dim('WARNINGS'), ...warningLines(terminal, warnings))
  if (unread.length > 0) result.push('', dim('UNREAD SIGNALS'), ...unreadLines(data))
  if (gaps !== null) result.push('', dim('GAPS'), ...gapLines(gaps))
  if (tree !== null) result.push('', dim('RUNS'), ...treeLines(terminal, tree))
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
  const isLeft = run.status === 'interrupted' || (owner !== null && owner.state !== 'alive')
  const isReady = run.status === 'pending' && owner === null && run.dueAt === null && run.agent !== null
  const next =
    isLeft || isReady
      ? `clew resume ${shellWord(id)} --agent MODULE`
      : run.endedAt === null
        ? `clew tail ${id}`
        : `clew verify ${id}`
  return [...result, '', dim(`${terminal.next(`clew events ${id}`)} · ${terminal.next(next)}`)]
}

function summary(
  { output, width }: Terminal,
  run: RunSummary,
  owner: Shown['owner'],
  values: Shown['values'],
): string[] {
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
    ['replay', run.replay && replayText(run.replay)],
    [
      'superstep',
      run.checkpoint === null
        ? null
        : `${run.checkpoint.superstep} (checkpoint ${run.checkpoint.id}, seq ${run.checkpoint.seq})`,
    ],
    ['sleeps', run.dueAt === null || run.pauses.length > 0 ? null : `until ${formatLocal(run.dueAt)}`],
    [
      'owner',
      owner &&
        `${owner.owner}, ${owner.state}${owner.state === 'alive' ? '' : ': the run can be resumed by anyone'}`,
    ],
    ['waits', run.awaits ? `for signal ${run.awaits.map(({ name }) => name).join(', ')}` : null],
    ['held', run.held ? heldLine(run.held) : null],
    ['stop', run.stopRequested ? 'requested; its owner ends it as soon as it sees it' : null],
    ['subjects', run.subjects.length > 0 ? run.subjects.join(', ') : null],
    ['tags', tagLine(run.tags)],
    ...run.scores.map((score, at): [string, string] => [at === 0 ? 'scores' : '', scoreLine(score)]),
    ['input', valueLine(values?.input)],
    ['output', valueLine(values?.output)],
    ['started', `${formatLocal(run.startedAt)} (${formatRelative(run.startedAt, Date.now())})`],
    ['took', run.durationMs === null ? null : formatDuration(run.durationMs)],
    ['record', counts(run)],
    [
      'tokens',
      run.inputTokens + run.outputTokens === 0
        ? null
        : `${formatCount(run.inputTokens)} in, ${formatCount(run.outputTokens)} out`,
    ],
    ['cost', run.cost === null ? null : formatCost(run)],
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

const heldLine = ({ reason, by, since }: NonNullable<RunSummary['held']>): string =>
  [`since ${formatLocal(since)}`, by === null ? '' : ` by ${by}`, reason === null ? '' : `: ${reason}`].join(
    '',
  )

/** One line of a value; all of it is in `--values --json`. */
const valueLine = (value: unknown): string | null =>
  value === undefined || value === null ? null : compact(value)

function warningLines({ output, width }: Terminal, warnings: readonly string[]): string[] {
  return warnings.flatMap((warning) =>
    wrap(printable(warning), width - 4).map(
      (line, at) => `${at === 0 ? '  ' : '    '}${output.colour.yellow(line)}`,
    ),
  )
}

const DEEPEST = 12

function treeLines({ output, width }: Terminal, rows: readonly RunTreeRow[]): string[] {
  const { colour } = output
  return rows.map(({ runId, relation, depth, status, agent, durationMs, sharedEvents }) => {
    const lead = depth === 0 ? '' : `${'  '.repeat(Math.min(depth, DEEPEST) - 1)}└ `
    const how = relation === 'fork' ? `fork after seq ${sharedEvents}` : relation === 'child' ? 'child' : ''
    const took = durationMs === null ? '' : formatDuration(durationMs)
    const facts = [how, agent, took].filter(Boolean).join(' · ')
    const room = Math.max(8, width - lead.length - 22)
    const id = cut(printable(runId), room)
    return `  ${colour.dim(lead)}${statusText(colour, status)}  ${id}  ${colour.dim(cut(printable(facts), Math.max(0, room - textWidth(id))))}`
  })
}

function counts({ events, messages, toolCalls, errors }: RunSummary): string {
  const parts = [plural(events, 'event')]
  if (messages > 0) parts.push(plural(messages, 'message'))
  if (toolCalls > 0) parts.push(plural(toolCalls, 'tool call'))
  if (errors > 0) parts.push(plural(errors, 'error'))
  return parts.join(', ')
}

const replayText = ({ mode, sourceRunId, verdict, at }: NonNullable<RunSummary['replay']>): string =>
  `of ${sourceRunId} (${mode})${verdict === null ? '' : `: ${verdict}`}${at === null ? '' : ` at ${at}`}`

function gapLines(gaps: NonNullable<Shown['gaps']>): string[] {
  if (gaps.length === 0) return ['  none: all of it can be read']
  return gaps.map(({ kind, fromSeq, toSeq, at, by, rule }) => {
    const where = fromSeq === toSeq ? `#${fromSeq}` : `#${fromSeq} to #${toSeq}`
    const who = [by === null ? '' : ` by ${printable(by)}`, rule === null ? '' : ` (${printable(rule)})`]
    return `  ${where}  ${kind} ${formatLocal(at)}${who.join('')}`
  })
}
