import { stepLabel } from '@clew/ledger'
import type { z } from 'zod'
import { formatCount } from '../../format-count.ts'
import { steps } from '../../operations/steps.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { cut, plural, printable } from '../text.ts'
import { formatDuration } from '../time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'SEQ', align: 'right' },
  { title: 'SUPERSTEP', align: 'right' },
  { title: 'STEP' },
  { title: 'ATTEMPT', align: 'right' },
  { title: 'KIND' },
  { title: 'STATUS' },
  { title: 'TOOK', align: 'right' },
  { title: 'NOTE', flexible: true },
]

export const stepsCommand: Command<InputOf<typeof steps>> = async ({ input, terminal, withLedger }) => {
  const { run, data } = await withLedger(async (ledger) => {
    const id = await resolveRun(ledger, input.runId)
    return { run: await ledger.getRun(id), data: await steps.run(ledger, { ...input, runId: id }) }
  })
  // Hidden for functions, in which each step is its own superstep.
  const isGraph = run?.checkpoint !== null
  await terminal.answer(data, () => lines(terminal, data, printable(run?.runId ?? ''), input, isGraph))
  return EXIT.fine
}

type Listed = z.output<typeof steps.output>

function lines(
  { output, width, next }: Terminal,
  { steps: found, total, nextCursor }: Listed,
  id: string,
  { status, node, superstep, limit }: InputOf<typeof steps>,
  isGraph: boolean,
): string[] {
  const { colour } = output
  const isNarrowed = status !== undefined || node !== undefined || superstep !== undefined
  if (found.length === 0)
    return ['No steps fit.', '', colour.dim(next(isNarrowed ? `clew steps ${id}` : `clew events ${id}`))]
  const shown = (_: unknown, at: number): boolean => isGraph || COLUMNS[at]?.title !== 'SUPERSTEP'
  const rows = found.map((step) => [
    String(step.startedSeq),
    String(step.superstep),
    cut(printable(stepLabel(step.stepId, step.nodeName)), Math.max(16, Math.floor(width / 3))),
    String(step.attempt),
    cut(printable(step.kind), 12),
    statusText(colour, step.status),
    step.durationMs === null ? '–' : formatDuration(step.durationMs),
    printable(noteOf(step)),
  ])
  const [head = '', ...body] = formatTable(
    COLUMNS.filter(shown),
    rows.map((cells) => cells.filter(shown)),
    width,
  )
  const filter = Object.entries({ status, node, superstep, limit: limit === 100 ? undefined : limit })
    .map(([name, value]) => (value === undefined ? '' : `--${name} ${shellWord(printable(String(value)))} `))
    .join('')
  const more = nextCursor === null ? '' : ` · ${next(`clew steps ${id} ${filter}--cursor ${nextCursor}`)}`
  const counts = `${plural(found.length, 'step')}${total !== null && total > found.length ? ` of ${formatCount(total)}` : ''}`
  return [colour.dim(head), ...body, '', colour.dim(`${counts} · ${next(`clew timeline ${id}`)}${more}`)]
}

function noteOf({ decision, error, cached, restored, childRunId, pause }: Listed['steps'][number]): string {
  const notes: string[] = []
  if (error) notes.push(error.message ?? error.name ?? 'failed')
  if (decision !== null) notes.push(`→ ${typeof decision === 'string' ? decision : decision.join(', ')}`)
  if (cached) notes.push('cached')
  if (restored) notes.push('restored')
  if (childRunId !== null) notes.push(`run ${childRunId}`)
  if (pause) notes.push('waits for an answer')
  return notes.join(' · ')
}
