import { type Lineage, type LineageRow, lineage } from '../../operations/lineage.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { statusText } from '../marks.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { cut, pad, plural, printable, textWidth } from '../text.ts'
import { formatDuration, formatRelative } from '../time.ts'

const DEEPEST = 12

export const lineageCommand: Command<InputOf<typeof lineage>> = async ({ input, terminal, withLedger }) => {
  const { runId, data } = await withLedger(async (ledger) => {
    const id = input.runId === undefined ? undefined : await resolveRun(ledger, input.runId)
    return { runId: id, data: await lineage.run(ledger, { ...input, runId: id }) }
  })
  await terminal.answer(data, () => lines(terminal, data, runId))
  return EXIT.fine
}

function lines(
  { output, width, next }: Terminal,
  { threadId, runs, more }: Lineage,
  asked: string | undefined,
): string[] {
  const { colour } = output
  const { bold, dim, cyan } = colour
  if (runs.length === 0)
    return [`There is no run on thread ${printable(threadId ?? '')}.`, '', dim(next('clew runs'))]
  const rows = runs.map((row) => {
    const lead = row.depth === 0 ? '' : `${'  '.repeat(Math.min(row.depth, DEEPEST) - 1)}└ `
    const id = cut(printable(row.runId), 40)
    return { row, lead, id, width: textWidth(lead) + textWidth(id) }
  })
  const column = Math.max(...rows.map((each) => each.width))
  const body = rows.map(({ row, lead, id, width: taken }) => {
    const named = row.runId === asked ? bold(id) : id
    const mark = row.isNewest ? cyan(' ← newest') : ''
    const status = statusText(colour, row.status)
    const room = width - column - textWidth(status) - textWidth(mark) - 4
    const facts = cut(printable(factsOf(row)), Math.max(0, room))
    return `${dim(lead)}${named}${' '.repeat(column - taken)}  ${pad(status, 13)}  ${dim(facts)}${mark}`.trimEnd()
  })
  const head = threadId === null ? [] : [`thread ${bold(printable(threadId))}`, '']
  const last = runs.findLast((row) => row.isNewest) ?? runs[0]
  const id = shellWord(printable(asked ?? last?.runId ?? ''))
  const left = more ? ' · older ones left out' : ''
  return [
    ...head,
    ...body,
    '',
    dim(`${plural(runs.length, 'run')}${left} · ${next(`clew show ${id}`)} · ${next(`clew fork ${id}`)}`),
  ]
}

function factsOf({ relation, agent, parted, superstep, durationMs, startedAt }: LineageRow): string {
  const facts: (string | null)[] = []
  if (parted) {
    const where =
      parted.superstep === null ? `seq ${parted.seq}` : `superstep ${parted.superstep} (seq ${parted.seq})`
    const step = parted.stepId === null ? '' : `, ${parted.stepId}`
    const edited = parted.edited === null ? '' : `, with another ${parted.edited}`
    facts.push(`${relation} at ${where}${step}${edited}`)
  } else facts.push(relation)
  facts.push(agent, superstep === null ? null : `to superstep ${superstep}`)
  facts.push(durationMs === null ? null : formatDuration(durationMs), formatRelative(startedAt, Date.now()))
  return facts.filter((fact) => fact !== null).join(' · ')
}
