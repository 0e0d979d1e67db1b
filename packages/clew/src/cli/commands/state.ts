import type { RunSummary } from '@clew/ledger'
import type { z } from 'zod'
import { formatCount } from '../../format-count.ts'
import { formatSize } from '../../format-size.ts'
import { type ChannelRow, state } from '../../operations/state.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { compact } from '../preview.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { cut, jsonText, pad, plural, printable, textWidth } from '../text.ts'
import { formatLocal } from '../time.ts'

type Shown = NonNullable<z.output<typeof state.output>>

export const stateCommand: Command<InputOf<typeof state>> = async ({ input, terminal, withLedger }) => {
  const { run, data } = await withLedger(async (ledger) => {
    const runId = await resolveRun(ledger, input.runId)
    // People see the value itself where it is short.
    const asked = terminal.json ? input : { ...input, full: true }
    return {
      run: (await ledger.getRun(runId)) as RunSummary,
      data: await state.run(ledger, { ...asked, runId }),
    }
  })
  const whole = input.full === true || input.key !== undefined
  await terminal.answer(data, () =>
    data ? lines(terminal, data, printable(run.runId), whole) : none(terminal, run, input),
  )
  return EXIT.fine
}

function none({ output, next }: Terminal, run: RunSummary, { superstep }: InputOf<typeof state>): string[] {
  const { dim } = output.colour
  const id = printable(run.runId)
  const when = superstep === undefined ? '' : ` up to superstep ${superstep}`
  return [
    `The run ${id} has recorded no state${when}: only graphs have channels.`,
    'What a function has built are the results of its steps.',
    '',
    dim(`${next(`clew steps ${id}`)} · ${next(`clew events ${id} --type execution.step_completed --full`)}`),
  ]
}

const MAX_NAME_CHARS = 24

function lines({ output, width, next }: Terminal, data: Shown, id: string, whole: boolean): string[] {
  const { dim, bold, cyan } = output.colour
  const { superstep, lastSuperstep, channels, state: values } = data
  const of = lastSuperstep === 0 ? '' : ` (of 0 to ${lastSuperstep})`
  const going = data.next.length > 0 ? `, then ${cut(printable(data.next.join(', ')), 60)}` : ''
  const head = `${bold(id)}  superstep ${superstep}${of}${going}  ${dim(formatLocal(data.createdAt))}`
  const column = channels.reduce((most, { name }) => Math.max(most, textWidth(printable(name))), 0)
  const body = channels.flatMap((row) => {
    const label = printable(row.name)
    const mark = row.changed ? cyan('*') : ' '
    if (whole)
      return [
        `${mark} ${bold(label)}  ${dim(`${describe(row)}, version ${row.version}`)}`,
        ...jsonText(values?.[row.name], 2)
          .split('\n')
          .map((line) => `    ${line}`),
      ]
    const named = pad(cut(label, MAX_NAME_CHARS), Math.min(column, MAX_NAME_CHARS))
    return [`${mark} ${named}  ${cut(describe(row, values?.[row.name]), width - MAX_NAME_CHARS - 4)}`]
  })
  return [head, '', ...body, '', dim(footer(data, id, next, whole))]
}

/** `list of 12 · 14.2 KB`, `number 3`, `text "yes"`: the value itself only where it is short. */
function describe({ type, count, bytes }: ChannelRow, value?: unknown): string {
  const name = printable(type)
  const size = bytes < 100 ? '' : ` · ${formatSize(bytes)}`
  if (type === 'list') return `list of ${formatCount(count ?? 0)}${size}`
  if (type === 'object') return `object of ${plural(count ?? 0, 'key')}${size}`
  if (type === 'null') return 'null'
  if (value === undefined) return `${name}${size}`
  const shown = compact(value)
  return bytes > 60 ? `${name} of ${plural(count ?? 0, 'character')}${size}` : `${name} ${printable(shown)}`
}

function footer(
  { superstep, lastSuperstep, channels }: Shown,
  id: string,
  next: Terminal['next'],
  whole: boolean,
): string {
  const changed = channels.filter((row) => row.changed).length
  const parts = [`${plural(channels.length, 'channel')}, ${changed} changed here (*)`]
  if (superstep > 0) parts.push(next(`clew state ${id} --superstep ${superstep - 1}`))
  const largest = channels.toSorted((a, b) => b.bytes - a.bytes)[0]
  const at = superstep === lastSuperstep ? '' : ` --superstep ${superstep}`
  if (!whole && largest && /^[\w.-]+$/.test(largest.name))
    parts.push(next(`clew state ${id}${at} --key ${largest.name}`))
  return parts.join(' · ')
}
