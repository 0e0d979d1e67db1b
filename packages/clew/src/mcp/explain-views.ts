import type { View } from '@clew/mcp'
import type { z } from 'zod'
import type { diff } from '../operations/diff.ts'
import type { explain } from '../operations/explain.ts'
import { changeLine, next, runLine } from './text.ts'

type DiffAnswer = z.output<(typeof diff)['output']>
type Divergence = NonNullable<DiffAnswer['first']>

const MAX_CHANGES = 4

export function diffView(
  output: DiffAnswer,
  { runId, otherRunId, full }: z.output<(typeof diff)['input']>,
): View {
  const { a, b, same, first, counts, rows, deltas, sharedEvents } = output
  const at = (row: (typeof rows)[number]): string =>
    `${row.mark}: ${row.a?.label ?? '—'} | ${row.b?.label ?? '—'}`
  const seq = first?.received?.seq
  return {
    head: [
      same ? 'they did the same' : `${a.runId} (${a.status}) and ${b.runId} (${b.status}) differ`,
      ...(sharedEvents > 0 ? [`${sharedEvents} events are shared`] : []),
      ...(first ? divergenceLines(first) : []),
      `${counts.same} same, ${counts.changed} changed, ${counts.missing} missing, ${counts.extra} extra, ${counts.moved} moved, ${counts.wording} only in words`,
      `cost ${deltas.cost.a ?? '?'} and ${deltas.cost.b ?? '?'}, ${deltas.durationMs.a ?? '?'} and ${deltas.durationMs.b ?? '?'} ms`,
    ],
    lists: [
      {
        what: 'lines that differ',
        rows: rows.map(at),
        more: 0,
        rest: () => ({
          tool: 'diff_runs',
          input: { runId, otherRunId, ...(full && { full }), max_tokens: 8000 },
        }),
      },
    ],
    next: seq === undefined ? [] : [next('get_value', { runId: otherRunId, seq }, 'where they part')],
  }
}

function divergenceLines({ kind, expected, received, changes, after }: Divergence): string[] {
  return [
    `first difference (${kind})${after ? ` after ${after.label}` : ''}:`,
    `  good: ${expected ? `${expected.label} (event ${expected.seq})` : 'nothing more'}`,
    `  here: ${received ? `${received.label} (event ${received.seq})` : 'nothing more'}`,
    ...changes.slice(0, MAX_CHANGES).map(changeLine),
  ]
}

const HEADS = { failed: 'failed', paused: 'waits', running: 'at work', last: 'last step' } as const

/** Summary, suspects with the events that show them, the difference, and the two calls that are worth making next. */
export function explainView(output: z.output<(typeof explain)['output']>): View {
  const { run, place, lastGood, origin, suspects, outcome, unreadEvents } = output
  const [first] = suspects
  return {
    head: [
      runLine(run),
      ...(outcome
        ? [`outcome ${outcome.name} ${String(outcome.value)}${outcome.isGood ? '' : ', which is bad'}`]
        : []),
      ...(unreadEvents > 0 ? [`${unreadEvents} events in its middle were not looked at`] : []),
      ...(suspects.length === 0 ? ['nothing found: no event of this run looks wrong'] : []),
      ...suspects.flatMap(({ eventId, seq, stepId, kind, why, led }, at) => [
        `${at === 0 ? 'likely cause' : 'also possible'}: event ${eventId} (${seq}${stepId === null ? '' : `, ${stepId}`}) ${kind}: ${why}`,
        ...(at === 0 && led.length > 0
          ? [`  shown by: ${led.map((each) => `${each.seq} ${each.label}`).join(' → ')}`]
          : []),
      ]),
      ...(place
        ? [
            `${HEADS[place.because]}: ${place.stepId ?? place.name} (${place.kind}, event ${place.seq})`,
            ...(place.input === null ? [] : [`  input ${place.input}`]),
            ...(place.output === null ? [] : [`  output ${place.output}`]),
            ...(place.error === null ? [] : [`  error ${place.error}`]),
          ]
        : ['nothing was recorded that could be explained']),
      ...(origin ? [`began with ${origin.eventType} (event ${origin.seq}) ${origin.label}`] : []),
      ...(lastGood
        ? [
            `last good run: ${lastGood.runId} (same ${lastGood.matched})`,
            ...(lastGood.first
              ? divergenceLines(lastGood.first)
              : [
                  lastGood.deltas === null
                    ? '  too long to be compared here'
                    : lastGood.same
                      ? '  did the same'
                      : '  took the same way',
                ]),
          ]
        : ['no good run to compare with']),
    ],
    next: nextOf(output, first),
  }
}

/** At most two: the value that shows the cause, and what proves or mends it. */
function nextOf(
  { run, lastGood, place }: z.output<(typeof explain)['output']>,
  first: z.output<(typeof explain)['output']>['suspects'][number] | undefined,
): View['next'] {
  const { runId } = run
  const calls = []
  if (first) calls.push(next('get_value', { runId, seq: first.seq }, 'the likely cause as it was recorded'))
  else if (place) calls.push(next('get_value', { runId, seq: place.seq }, 'the last thing it did'))
  if (lastGood && !lastGood.same)
    calls.push(
      next('diff_runs', { runId: lastGood.runId, otherRunId: runId }, 'all that differs from the good run'),
    )
  else if (first) calls.push(next('effects', { eventId: first.eventId }, 'what came of it'))
  return calls
}
