import type { Rows, View } from '@clew/mcp'
import type { z } from 'zod'
import type { runs } from '../operations/runs.ts'
import type { search } from '../operations/search.ts'
import type { show } from '../operations/show.ts'
import type { steps } from '../operations/steps.ts'
import type { tail } from '../operations/tail.ts'
import type { transcript } from '../operations/transcript.ts'
import { given, next, runLine, short, stepLine } from './text.ts'

type Out<O extends { output: z.ZodType }> = z.output<O['output']>
type In<O extends { input: z.ZodType }> = z.output<O['input']>

export function runsView({ runs: found, nextCursor }: Out<typeof runs>, input: In<typeof runs>): View {
  const { limit, cursor, ...filter } = input
  const failed = found.find(({ status }) => status === 'failed')
  return {
    head: [`${found.length} runs, newest first`],
    lists: [
      {
        what: 'runs',
        rows: found.map(runLine),
        more: nextCursor === null ? 0 : null,
        rest: (shown) =>
          shown === found.length
            ? nextCursor === null
              ? null
              : { tool: 'list_runs', input: { ...given(filter), cursor: nextCursor } }
            : {
                tool: 'list_runs',
                input: { ...given(filter), ...(cursor !== undefined && { cursor }), limit, max_tokens: 8000 },
              },
      },
    ],
    next: failed ? [next('explain_run', { runId: failed.runId }, 'the newest that failed')] : [],
  }
}

export function showView({
  run,
  steps: found,
  moreSteps,
  owner,
  warnings,
  lastEvents,
}: Out<typeof show>): View {
  const { runId } = run
  const failed = found.findLast(({ status }) => status === 'failed')
  const cursor = found.at(-1)?.startedSeq
  const fork =
    run.forkedFrom === null ? '' : `, fork of ${run.forkedFrom.runId} after event ${run.forkedFrom.seq}`
  return {
    head: [
      runLine(run),
      `${run.events} events, ${run.messages} messages, ${run.toolCalls} tool calls, ${run.errors} errors, ${run.inputTokens}+${run.outputTokens} model tokens${fork}`,
      ...(owner === null ? [] : [`owner ${owner.state}, last heard of ${owner.heartbeatAt}`]),
      ...warnings.slice(0, 3).map((warning) => `warning: ${warning}`),
      ...lastEvents.slice(-2).map(({ seq, eventType }) => `event ${seq} ${eventType}`),
    ],
    lists: [
      {
        what: 'steps',
        rows: found.map(stepLine),
        more: moreSteps,
        rest: (shown) => ({
          tool: 'list_steps',
          input: restOfSteps(runId, shown === found.length ? cursor : found[shown - 1]?.startedSeq),
        }),
      },
    ],
    next: [
      next('explain_run', { runId }, 'what went wrong, if anything'),
      ...(failed
        ? [next('get_step', { runId, stepId: failed.stepId }, 'input and output of the failed step')]
        : []),
    ],
  }
}

const restOfSteps = (runId: string, after: number | undefined) =>
  after === undefined ? { runId } : { runId, cursor: String(after) }

export function stepsView(
  { steps: found, total, nextCursor }: Out<typeof steps>,
  { runId, limit: _, cursor, ...filter }: In<typeof steps>,
  lines: readonly string[],
): View {
  return {
    head: [`${total ?? 'some'} steps of ${runId}`],
    lists: [
      {
        what: 'steps',
        rows: found.map((step, at) => `${stepLine(step)}${lines[at] ?? ''}`),
        more: nextCursor === null ? 0 : null,
        rest(shown) {
          const after = shown === 0 ? cursor : String(found[shown - 1]?.startedSeq)
          return {
            tool: 'list_steps',
            input: { runId, ...given(filter), ...(after !== undefined && { cursor: after }) },
          }
        },
      } satisfies Rows,
    ],
    next: found[0]
      ? [
          next(
            'get_step',
            { runId, stepId: (found.find(({ status }) => status === 'failed') ?? found[0]).stepId },
            'input and output of one of them',
          ),
        ]
      : [],
  }
}

const INDEX_MS = 20_000

export function searchView(
  { hits, nextCursor, lag }: Out<typeof search>,
  { query, limit, cursor }: In<typeof search>,
): View {
  const first = hits[0]
  return {
    head: [`${hits.length} runs with ${short(query)}${lag > 0 ? `; ${lag} events are not indexed yet` : ''}`],
    lists: [
      {
        what: 'runs',
        rows: hits.map(({ run, events }) =>
          [
            runLine(run),
            ...events
              .slice(0, 2)
              .map(({ seq, highlight }) => `| event ${seq} ${short(highlight?.text, 160)}`),
          ].join(' '),
        ),
        more: nextCursor === null ? 0 : null,
        rest: (shown) =>
          shown === hits.length
            ? nextCursor === null
              ? null
              : { tool: 'search', input: { query, cursor: nextCursor } }
            : {
                tool: 'search',
                input: { query, ...(cursor !== undefined && { cursor }), limit, max_tokens: 8000 },
              },
      },
    ],
    next: [
      ...(first
        ? [
            next('explain_run', { runId: first.run.runId }, 'the best hit'),
            ...first.events
              .slice(0, 1)
              .map(({ seq }) => next('get_value', { runId: first.run.runId, seq }, 'the event that fits')),
          ]
        : []),
      ...(lag > 0 ? [next('search', { query, waitMs: INDEX_MS }, 'waits until more is indexed')] : []),
    ],
  }
}

/** Entry by entry, a line each: long texts are read with get_value. */
export function transcriptView(
  output: Out<typeof transcript>,
  { runId, ...input }: In<typeof transcript>,
): View {
  if (!('entries' in output)) {
    const text =
      'text' in output ? output.text.split('\n') : output.messages.map((message) => short(message, 400))
    return {
      head: [`transcript of ${runId}`],
      lists: [
        {
          what: 'lines',
          rows: text,
          more: 0,
          rest: () => ({ tool: 'get_transcript', input: { runId, ...given(input), max_tokens: 20_000 } }),
        },
      ],
    }
  }
  const rows = output.entries.map((entry) => {
    const { kind, seq } = entry
    const said = shownOf(entry)
    return `${seq} ${kind}${said === '' ? '' : ` ${said}`}`
  })
  const last = output.entries.at(-1)
  return {
    head: [`${output.entries.length} entries of ${runId}, ${output.status ?? 'no events'}`],
    lists: [
      {
        what: 'entries',
        rows,
        more: 0,
        rest: () => ({ tool: 'get_transcript', input: { runId, max_tokens: 8000 } }),
      },
    ],
    next: last ? [next('get_value', { runId, seq: last.seq }, 'the whole of an entry, by its number')] : [],
  }
}

function shownOf(entry: object): string {
  const fields = [
    'role',
    'name',
    'to',
    'choice',
    'status',
    'content',
    'arguments',
    'question',
    'outcome',
    'answer',
    'output',
    'error',
    'reason',
  ]
  return fields
    .map((field) => Reflect.get(entry, field) as unknown)
    .filter((each) => each !== undefined && each !== null && each !== '')
    .map((each) => (typeof each === 'string' && each.length < 40 ? each : short(each, 160)))
    .join(' ')
}

export interface TailPage {
  readonly events: readonly Out<typeof tail>[]
  readonly position: number
}

export function tailView({ events, position }: TailPage, { runId, types }: In<typeof tail>): View {
  const after = (at: number) => ({
    tool: 'tail',
    input: { ...given({ runId, types }), afterPosition: at },
  })
  return {
    head: [events.length === 0 ? `nothing new after position ${position}` : `${events.length} events`],
    lists: [
      {
        what: 'events',
        rows: events.map(
          ({ correlation_id, event_type, ledger, timestamp }) =>
            `${ledger.position} ${correlation_id}:${ledger.seq} ${event_type} ${timestamp}`,
        ),
        more: 0,
        rest: (shown) =>
          after(events[shown - 1]?.ledger.position ?? (events[0]?.ledger.position ?? position + 1) - 1),
      },
    ],
    next: [{ ...after(position), why: 'what comes after' }],
  }
}
