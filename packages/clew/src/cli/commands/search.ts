import {
  ClewError,
  type Highlight,
  type Ledger,
  type SearchEvent,
  type SearchHit,
  type SearchResult,
} from '@clew/ledger'
import { search } from '../../operations/search.ts'
import type { Command, CommandContext, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { printIds, wantsIds } from '../ids.ts'
import { statusText, typeText } from '../marks.ts'
import type { Terminal } from '../terminal.ts'
import { cut, plural, printable } from '../text.ts'
import { formatRelative } from '../time.ts'

type Context = CommandContext<InputOf<typeof search>>

export const searchCommand: Command<InputOf<typeof search>> = async (context) => {
  const { input, flags, terminal } = context
  const onlyIds = wantsIds(flags)
  const found = await withIndex(context, (ledger) => search.run(ledger, input))
  if (onlyIds)
    await printIds(
      terminal,
      found.hits.map((hit) => hit.run.runId),
    )
  else await terminal.answer(found, () => lines(terminal, found, input))
  return EXIT.fine
}

/** The index is brought on before it is asked, which writes; where that cannot be, it is asked as it stands. */
async function withIndex<T>({ withLedger }: Context, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  try {
    return await withLedger(work, { readOnly: false, create: false })
  } catch (error) {
    if (!(error instanceof ClewError && error.code === 'store_readonly')) throw error
    return withLedger(work, { readOnly: true })
  }
}

function lines(
  terminal: Terminal,
  { hits, nextCursor, lag }: SearchResult,
  input: InputOf<typeof search>,
): string[] {
  const { dim, yellow } = terminal.output.colour
  const behind =
    lag === 0
      ? []
      : [yellow(`! ${plural(lag, 'event')} not in the index yet: ${terminal.next('clew reindex --update')}`)]
  const [first] = hits
  if (!first) return ['Nothing fits.', ...behind, '', dim(terminal.next('clew runs'))]
  const words = quoted(input.query)
  const again = input.limit === 20 ? words : `${words} --limit ${input.limit}`
  const more = nextCursor === null ? '' : ` · ${terminal.next(`clew search ${again} --cursor ${nextCursor}`)}`
  const seq = first.events[0]?.seq
  const id = printable(first.run.runId)
  const next = seq === undefined ? `clew show ${id}` : `clew events ${id} --after ${seq - 1} --limit 1 --full`
  return [
    ...hits.flatMap((hit) => hitLines(terminal, hit)),
    ...behind,
    dim(`${plural(hits.length, 'run')} · ${terminal.next(next)}${more}`),
  ]
}

/** As a shell takes it: one argument. */
const quoted = (query: string): string =>
  /^[\w:.,@*<>=-]+$/.test(query) && !/[<>*]/.test(query) ? query : `'${query.replaceAll("'", `'\\''`)}'`

function hitLines({ output, width }: Terminal, { run, found, events }: SearchHit): string[] {
  const { colour } = output
  const agent = run.agent === null ? '' : `  ${printable(run.agent)}`
  const when = colour.dim(formatRelative(run.startedAt, Date.now()))
  const more = found > events.length && events.length > 0 ? colour.dim(` · ${plural(found, 'event')}`) : ''
  return [
    `${colour.bold(printable(run.runId))}  ${statusText(colour, run.status)}${agent}  ${when}${more}`,
    ...events.map((event) => eventLine(output.colour, event, width)),
    '',
  ]
}

function eventLine(colour: Terminal['output']['colour'], event: SearchEvent, width: number): string {
  const type = printable(event.eventType)
  const start = `${colour.dim(String(event.seq).padStart(6))}  ${typeText(colour, type, 26)}  `
  const room = Math.max(20, width - 10 - Math.max(26, type.length))
  return event.highlight ? start + marked(event.highlight, room, colour.yellow) : start.trimEnd()
}

/** The text on one line with its marks, cut to a width; nothing of it can drive the terminal. */
function marked({ text, marks }: Highlight, width: number, style: (text: string) => string): string {
  let result = ''
  let [at, left] = [0, width]
  const add = (to: number, how: (text: string) => string): void => {
    const whole = printable(text.slice(at, to).replaceAll(/\s+/g, ' '))
    const shown = cut(whole, left)
    if (left > 0 && shown !== '') result += how(shown)
    left = shown === whole ? left - shown.length : 0
    at = to
  }
  for (const [from, to] of marks) {
    add(from, (plain) => plain)
    add(to, style)
  }
  add(text.length, (plain) => plain)
  return result
}
