import type { WireEvent } from '@clew/ledger'
import { typeText } from './marks.ts'
import { cutPreview, previewPayload } from './preview.ts'
import type { Terminal } from './terminal.ts'
import { escapeJson, pad, printable } from './text.ts'
import { formatClock } from './time.ts'

const TYPE_WIDTH = 27

/** One event on one line: place, time, type and what matters of its payload. */
export function eventLine(
  terminal: Pick<Terminal, 'output' | 'width'>,
  event: WireEvent,
  runLabel?: string,
): string {
  const { colour } = terminal.output
  const { seq, erased, pruned } = event.ledger
  const type = printable(event.event_type)
  const run = runLabel === undefined ? '' : `${pad(runLabel, 14)}  `
  const left = `${run}${String(seq).padStart(4)}  ${formatClock(event.timestamp)}  `
  const room = terminal.width - left.length - Math.max(TYPE_WIDTH, type.length) - 2
  const preview = erased
    ? `(${pruned ? 'pruned' : 'erased'})`
    : cutPreview(previewPayload(type, event.payload), room)
  return `${colour.dim(left)}${typeText(colour, type, TYPE_WIDTH)}  ${preview}`.trimEnd()
}

/** The same with everything its payload holds below it. */
export function eventBlock(terminal: Pick<Terminal, 'output' | 'width'>, event: WireEvent): string {
  const { dim } = terminal.output.colour
  const { event_id, causation_id, source, ledger } = event
  const cause = causation_id === null ? '' : `  cause ${causation_id}`
  const facts = `event ${event_id}  by ${source.origin}/${printable(source.runtime)}${cause}`
  const body = escapeJson(JSON.stringify(event.payload, null, 2)).replaceAll('\n', '\n      ')
  const head = eventLine(terminal, { ...event, payload: null })
  return `${head}\n      ${dim(facts)}\n      ${dim(`hash ${ledger.hash}`)}\n      ${body}\n`
}
