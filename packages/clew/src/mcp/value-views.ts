import type { View } from '@clew/mcp'
import type { z } from 'zod'
import type { causes } from '../operations/causality.ts'
import type { cost } from '../operations/cost.ts'
import type { memorySearch } from '../operations/memory-reads.ts'
import type { state } from '../operations/state.ts'
import type { step } from '../operations/step.ts'
import type { value } from '../operations/value.ts'
import type { verify } from '../operations/verify.ts'
import { errorText, given, next, short, stepLine } from './text.ts'

type Out<O extends { output: z.ZodType }> = z.output<O['output']>
type In<O extends { input: z.ZodType }> = z.output<O['input']>

const SHOWN = 600

export function stepView(output: Out<typeof step>, { runId }: In<typeof step>): View {
  const { step: found, input, values, stack, attempts, startedEventId, endedEventId } = output
  const { stepId, error, attempt } = found
  const name = { runId, stepId, ...(attempts > 1 && { attempt }) }
  const isCut = (each: unknown): boolean => (JSON.stringify(each)?.length ?? 0) > SHOWN
  return {
    head: [
      `${stepLine(found)}${attempts > 1 ? ` of ${attempts}` : ''}`,
      `input ${short(input, SHOWN)}`,
      ...(error === null ? [`output ${short(values, SHOWN)}`] : [`error ${errorText(error)}`]),
      ...(stack === null ? [] : [`thrown at ${stack.split('\n').slice(0, 3).join(' | ')}`]),
      `began with event ${startedEventId}${endedEventId === null ? '' : `, ended with event ${endedEventId}`}`,
    ],
    next: [
      ...(isCut(input) ? [next('get_value', { ...name, part: 'input' }, 'the whole input')] : []),
      ...(isCut(values) ? [next('get_value', { ...name, part: 'output' }, 'the whole output')] : []),
      next('causes', { eventId: endedEventId ?? startedEventId }, 'what led here'),
    ],
  }
}

export function valueView(output: Out<typeof value>, input: In<typeof value>): View {
  const { of, type, chars, from, text, nextFrom, entries, eventId, path, erased } = output
  const { from: _, length: __, path: ___, ...which } = input
  const call = { ...given(which), ...(path !== '$' && { path }) }
  return {
    head: [
      `${of}${path === '$' ? '' : ` at ${path}`}: ${type}, ${chars} characters${eventId === null ? '' : `, event ${eventId}`}${erased ? ', erased' : ''}`,
    ],
    lists: [
      ...(entries === null
        ? []
        : [
            {
              what: 'parts',
              rows: entries.map((entry) => `${entry.path} ${entry.type}, ${entry.chars} characters`),
              more: 0,
              rest: () => ({ tool: 'get_value', input: { ...call, max_tokens: 8000 } }),
            },
          ]),
      {
        what: 'pieces of text',
        rows: pieces(text),
        more: nextFrom === null ? 0 : Math.ceil((chars - nextFrom) / PIECE),
        rest: (shown) => ({
          tool: 'get_value',
          input: { ...call, from: Math.min(from + shown * PIECE, nextFrom ?? chars) },
        }),
      },
    ],
  }
}

/** A long text in pieces that fit a budget one by one, none of them parting a character. */
const PIECE = 200
const pieces = (text: string): string[] =>
  Array.from({ length: Math.ceil(text.length / PIECE) }, (_, at) => text.slice(at * PIECE, (at + 1) * PIECE))

export function stateView(output: Out<typeof state>, { runId, superstep }: In<typeof state>): View {
  if (!output) return { head: [`run ${runId} has no state: no graph recorded it`] }
  const { channels, next: nodes, lastSuperstep, state: values } = output
  const at = superstep === undefined ? {} : { superstep }
  const first = channels[0]
  return {
    head: [
      `state of ${runId} at superstep ${output.superstep} of ${lastSuperstep}${nodes.length === 0 ? '' : `, next ${nodes.join(', ')}`}`,
    ],
    lists: [
      {
        what: 'channels',
        rows: channels.map(
          ({ name, type, count, bytes, changed }) =>
            `${name}: ${type}${count === null ? '' : ` of ${count}`}, ${bytes} bytes${changed ? ', changed here' : ''}${values ? ` ${short(values[name], 300)}` : ''}`,
        ),
        more: 0,
        rest: () => ({ tool: 'get_state', input: { runId, ...at, max_tokens: 8000 } }),
      },
    ],
    next: first ? [next('get_value', { runId, ...at, channel: first.name }, 'the value of a channel')] : [],
  }
}

export function causalityView(tool: 'causes' | 'effects') {
  return ({ event, events, more, missingCause }: Out<typeof causes>, input: In<typeof causes>): View => {
    const last = events.at(-1)
    return {
      head: [
        `${events.length + more} ${tool} of event ${event.eventId} (${event.runId}:${event.seq} ${event.eventType})`,
        ...(missingCause === null
          ? []
          : [`the farthest names a cause that has not arrived: ${missingCause}`]),
      ],
      lists: [
        {
          what: tool,
          rows: events.map(
            ({ runId, seq, eventType, about, eventId }) =>
              `${runId}:${seq} ${eventType} ${about ?? ''} ${eventId}`,
          ),
          more,
          rest: () => ({ tool, input: { eventId: input.eventId, limit: 10_000, max_tokens: 20_000 } }),
        },
      ],
      next: last
        ? [
            next(
              'get_value',
              { runId: last.runId, seq: last.seq },
              tool === 'causes' ? 'the first cause' : 'the last effect',
            ),
          ]
        : [],
    }
  }
}

export function costView({ by, groups, total, unpriced }: Out<typeof cost>, input: In<typeof cost>): View {
  const line = (group: (typeof groups)[number]): string =>
    `${group.key ?? 'unknown'}: ${group.amount === null ? 'no price' : `$${group.amount}`}, ${group.modelCalls} calls, ${group.inputTokens}+${group.outputTokens} tokens${group.complete ? '' : ', incomplete'}`
  return {
    head: [
      `total ${line({ ...total, key: 'all' })}`,
      ...(unpriced.length > 0 ? [`${unpriced.length} models without a price`] : []),
    ],
    lists: [
      {
        what: `groups by ${by}`,
        rows: groups.map(line),
        more: 0,
        rest: () => ({ tool: 'cost', input: { ...given(input), max_tokens: 8000 } }),
      },
    ],
  }
}

export function memoryView({ hits }: Out<typeof memorySearch>, input: In<typeof memorySearch>): View {
  const first = hits[0]?.item
  return {
    head: [`${hits.length} items`],
    lists: [
      {
        what: 'items',
        rows: hits.map(
          ({ item }) =>
            `${item.namespace} ${item.key} (${item.layer}, ${item.scope}, version ${item.version}, event ${item.provenance.eventId}) ${short(item.value, 200)}`,
        ),
        more: 0,
        rest: () => ({ tool: 'memory_search', input: { ...given(input), max_tokens: 8000 } }),
      },
    ],
    next: first ? [next('causes', { eventId: first.provenance.eventId }, 'where it comes from')] : [],
  }
}

export function verifyView(
  { ok, checked, problems, pruned }: Out<typeof verify>,
  input: In<typeof verify>,
): View {
  return {
    head: [`${ok ? 'no problem' : `${problems.length} problems`} in ${checked} events`],
    lists: [
      {
        what: 'problems',
        rows: problems.map(
          ({ runId, seq, problem, detail }) => `${runId}:${seq ?? '-'} ${problem}: ${detail}`,
        ),
        more: 0,
        rest: () => ({ tool: 'verify', input: { ...given(input), max_tokens: 8000 } }),
      },
      {
        what: 'pruned ranges',
        rows: pruned.map(({ runId, fromSeq, toSeq, at }) => `${runId}:${fromSeq}-${toSeq} at ${at}`),
        more: 0,
        rest: () => ({ tool: 'verify', input: { ...given(input), max_tokens: 8000 } }),
      },
    ],
  }
}
