import type { z } from 'zod'
import { state } from '../../operations/state.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { compact } from '../preview.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { cut, jsonText, pad, plural, printable, textWidth } from '../text.ts'
import { formatLocal } from '../time.ts'

export const stateCommand: Command<InputOf<typeof state>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const { runId, data } = await withLedger(async (ledger) => {
    const id = await resolveRun(ledger, input.runId)
    return { runId: id, data: await state.run(ledger, { ...input, runId: id }) }
  })
  await terminal.answer(data, () => lines(terminal, data, printable(runId), input, flags['full'] === true))
  return EXIT.fine
}

function lines(
  { output, width, next }: Terminal,
  data: z.output<typeof state.output>,
  id: string,
  { superstep }: InputOf<typeof state>,
  full: boolean,
): string[] {
  const { dim, bold } = output.colour
  if (!data) {
    const when = superstep === undefined ? '' : ` up to superstep ${superstep}`
    return [`The run ${id} has recorded no state${when}.`, '', dim(next(`clew steps ${id}`))]
  }
  const channels = Object.entries(data.state)
  const column = Math.min(
    24,
    channels.reduce((most, [name]) => Math.max(most, textWidth(printable(name))), 0),
  )
  const going = data.next.length > 0 ? `, then ${cut(printable(data.next.join(', ')), 60)}` : ''
  const head = `${bold(id)}  superstep ${data.superstep}${going}  ${dim(formatLocal(data.createdAt))}`
  const body = channels.flatMap(([name, value]) => {
    const label = printable(name)
    if (full)
      return [
        bold(label),
        ...jsonText(value, 2)
          .split('\n')
          .map((line) => `  ${line}`),
      ]
    const size = Array.isArray(value) ? `${plural(value.length, 'item')} ` : ''
    return [
      `${pad(cut(label, column), column)}  ${cut(printable(size + compact(value)), width - column - 2)}`,
    ]
  })
  const back =
    data.superstep > 0 ? next(`clew state ${id} --superstep ${data.superstep - 1}`) : next(`clew steps ${id}`)
  const more = full ? '' : ` · ${next(`clew state ${id} --full`)}`
  return [head, '', ...body, '', dim(`${plural(channels.length, 'channel')} · ${back}${more}`)]
}
