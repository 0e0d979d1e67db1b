import {
  scheduleList,
  scheduleNext,
  schedulePause,
  scheduleRemove,
  scheduleResume,
  scheduleSet,
  scheduleShow,
  type ShownSchedule,
} from '../../operations/schedule.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { shellWord } from '../question.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { jsonText, plural, printable } from '../text.ts'
import { formatDuration, formatLocal } from '../time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'SCHEDULE' },
  { title: 'STATE' },
  { title: 'AGENT' },
  { title: 'WHEN', flexible: true },
  { title: 'NEXT' },
  { title: 'LAST RUN' },
]

function whenText({ cron, everyMs, at, timeZone }: ShownSchedule['definition']): string {
  if (cron !== undefined) return printable(`${cron} ${timeZone ?? 'UTC'}`)
  return everyMs === undefined ? `once at ${printable(at ?? '')}` : `every ${formatDuration(everyMs)}`
}

const nextText = ({ state, next }: Pick<ShownSchedule, 'state' | 'next'>): string =>
  state === 'active' ? (next[0] === undefined ? 'never again' : formatLocal(next[0])) : '–'

function summary({ output: { colour } }: Terminal, schedule: ShownSchedule): string {
  const { id, state, definition } = schedule
  const mark = state === 'active' ? colour.green('✓') : colour.yellow('○')
  return `${mark} ${printable(id)} is ${state}: ${whenText(definition)}, ${printable(definition.agent)}, next ${nextText(schedule)}`
}

type Changing = typeof scheduleSet | typeof schedulePause | typeof scheduleResume | typeof scheduleRemove

/** Commands that write: one line, and the next command. */
const changing =
  <Of extends Changing>(operation: Of): Command<InputOf<Of>> =>
  async ({ input, terminal, withLedger }) => {
    const run = operation.run as (...args: [Parameters<Of['run']>[0], InputOf<Of>]) => Promise<ShownSchedule>
    const schedule = await withLedger((ledger) => run(ledger, input), { readOnly: false, create: true })
    const { dim } = terminal.output.colour
    await terminal.answer(schedule, () => [
      summary(terminal, schedule),
      '',
      dim(terminal.next(`clew schedule show ${shellWord(schedule.id)}`)),
    ])
    return EXIT.fine
  }

export const scheduleSetCommand = changing(scheduleSet)
export const schedulePauseCommand = changing(schedulePause)
export const scheduleResumeCommand = changing(scheduleResume)
export const scheduleRemoveCommand = changing(scheduleRemove)

export const scheduleListCommand: Command<InputOf<typeof scheduleList>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => scheduleList.run(ledger, input))
  const { dim } = terminal.output.colour
  await terminal.answer(data, () => {
    if (data.schedules.length === 0)
      return ['There is no schedule.', '', dim(terminal.next(scheduleSet.example.command))]
    const rows = data.schedules.map((schedule) => [
      printable(schedule.id),
      schedule.state,
      printable(schedule.definition.agent),
      whenText(schedule.definition),
      nextText(schedule),
      printable(schedule.lastFired?.runId ?? '–'),
    ])
    const [head = '', ...body] = formatTable(COLUMNS, rows, terminal.width)
    const first = shellWord(data.schedules[0]?.id ?? '')
    return [
      dim(head),
      ...body,
      '',
      dim(`${plural(rows.length, 'schedule')} · ${terminal.next(`clew schedule show ${first}`)}`),
    ]
  })
  return EXIT.fine
}

export const scheduleShowCommand: Command<InputOf<typeof scheduleShow>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const schedule = await withLedger((ledger) => scheduleShow.run(ledger, input))
  const { dim } = terminal.output.colour
  await terminal.answer(schedule, () => {
    const { definition, lastFired, lastSkipped, setAt, by, next } = schedule
    const rows: [string, string][] = [
      ['set', `${formatLocal(setAt)}${by === null ? '' : ` by ${printable(by)}`}`],
      ['input', definition.input === undefined ? '–' : printable(jsonText(definition.input))],
      ['catch-up', definition.catchUp],
      ['overlap', definition.overlap],
      [
        'last run',
        lastFired ? `${printable(lastFired.runId)} for ${formatLocal(lastFired.nominalAt)}` : 'none',
      ],
      ['skipped', lastSkipped ? skippedText(lastSkipped) : 'none'],
      ['next', next.length === 0 ? nextText(schedule) : next.map(formatLocal).join(' · ')],
    ]
    return [
      summary(terminal, schedule),
      '',
      ...rows.map(([name, value]) => `  ${dim(name.padEnd(9))} ${value}`),
      '',
      dim(terminal.next(`clew runs schedule:${shellWord(schedule.id)}`)),
    ]
  })
  return EXIT.fine
}

const skippedText = ({ reason, count, fromAt, toAt }: NonNullable<ShownSchedule['lastSkipped']>): string => {
  const times = fromAt === toAt ? formatLocal(fromAt) : `${formatLocal(fromAt)} to ${formatLocal(toAt)}`
  const why = reason === 'late' ? 'no worker or server was running' : 'an earlier run was going on'
  return `${count ?? 'very many'} of ${times}: ${why}`
}

export const scheduleNextCommand: Command<InputOf<typeof scheduleNext>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => scheduleNext.run(ledger, input))
  const { dim } = terminal.output.colour
  await terminal.answer(data, () => [
    ...(data.next.length === 0
      ? [nextText(data)]
      : data.next.map((time) => `${formatLocal(time)}  ${dim(time)}`)),
    '',
    dim(terminal.next(`clew schedule show ${shellWord(data.id)}`)),
  ])
  return EXIT.fine
}
