import type { z } from 'zod'
import { formatCount } from '../../format-count.ts'
import { causes, effects } from '../../operations/causality.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { typeText } from '../marks.ts'
import { resolveEvent } from '../resolve-event.ts'
import type { Terminal } from '../terminal.ts'
import { cut, pad, plural, printable } from '../text.ts'
import { formatClock } from '../time.ts'

type Walked = z.output<typeof causes.output>
type Reference = Walked['event']

export const causesCommand: Command<InputOf<typeof causes>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    causes.run(ledger, { ...input, eventId: await resolveEvent(ledger, input.eventId) }),
  )
  await terminal.answer(data, () => [
    ...chain(terminal, data),
    ...(data.missingCause === null
      ? []
      : [terminal.output.colour.yellow(`   its cause ${data.missingCause} has not arrived`)]),
    ...footer(terminal, data, 'cause', 'effects'),
  ])
  return EXIT.fine
}

export const effectsCommand: Command<InputOf<typeof effects>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    effects.run(ledger, { ...input, eventId: await resolveEvent(ledger, input.eventId) }),
  )
  await terminal.answer(data, () => [...tree(terminal, data), ...footer(terminal, data, 'effect', 'causes')])
  return EXIT.fine
}

/** From the event down to its farthest cause. */
const chain = (terminal: Terminal, { event, events }: Walked): string[] => [
  line(terminal, '', event),
  ...events.map((each) => line(terminal, '↑  ', each)),
]

const DEEPEST = 12

/** Each effect below its cause, without recursion and each once. */
function tree(terminal: Terminal, { event, events }: Walked): string[] {
  const below = Map.groupBy(events, (each) => each.causationId)
  const lines: string[] = []
  const seen = new Set<string>()
  const stack = [{ at: event, depth: 0 }]
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { at, depth } = top
    if (seen.has(at.eventId)) continue
    seen.add(at.eventId)
    lines.push(line(terminal, depth === 0 ? '' : `${'  '.repeat(Math.min(depth, DEEPEST) - 1)}└ `, at))
    for (const next of (below.get(at.eventId) ?? []).toReversed()) stack.push({ at: next, depth: depth + 1 })
  }
  return lines
}

function line({ output, width }: Terminal, lead: string, event: Reference): string {
  const { runId, seq, eventType, timestamp } = event
  const { colour } = output
  const place = pad(cut(`${printable(runId)}:${seq}`, 32), 32)
  const type = cut(printable(eventType), Math.max(12, width - 52 - lead.length))
  const about = cut(printable(event.about ?? ''), Math.max(0, width - 50 - lead.length - type.length))
  return `${colour.dim(`${place}  ${formatClock(timestamp)}  ${lead}`)}${typeText(colour, type, 0)}  ${about}`.trimEnd()
}

function footer(terminal: Terminal, { event, events, more }: Walked, noun: string, other: string): string[] {
  const shown = `${plural(events.length + more, noun)}${more > 0 ? `, ${formatCount(events.length)} shown` : ''}`
  const place = `${printable(event.runId)}:${event.seq}`
  const next = `clew ${other} ${place}`
  const look = `clew events ${printable(event.runId)} --after ${event.seq - 1} --limit 1 --full`
  return ['', terminal.output.colour.dim(`${shown} · ${terminal.next(next)} · ${terminal.next(look)}`)]
}
