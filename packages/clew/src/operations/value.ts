import { type ClewEvent, ClewError, type Ledger } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'
import { readAttempts } from './steps.ts'
import { atPath, typeOf } from './value-path.ts'

const MAX_ENTRIES = 100

export const value = answering({
  name: 'value',
  summary: 'Read one recorded value, or a part of it: of a step, an event, the state or the run',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/value' },
  mcp: { tool: 'get_value' },
  input: z.object({
    runId,
    stepId: z.string().min(1).optional().describe('of this step'),
    attempt: z.int().min(1).optional().describe('which attempt of the step; default the last'),
    seq: z.int().min(1).optional().describe('the payload of the event with this seq'),
    channel: z.string().min(1).optional().describe('this channel of the state'),
    superstep: z.int().min(0).optional().describe('with a channel: at this superstep; default the latest'),
    part: z.enum(['input', 'output', 'error']).default('output').describe('of a step or of the run'),
    path: z.string().max(2000).optional().describe('a part of the value, such as $.messages[3].content'),
    from: z.int().min(0).default(0).describe('first character of its text'),
    length: z.int().min(1).max(1_000_000).default(1500).describe('how many characters at most'),
  }),
  output: z.object({
    runId: z.string(),
    of: z.string().describe('what the value belongs to'),
    seq: z.int().nullable().describe('event that holds it'),
    eventId: z.string().nullable(),
    path: z.string(),
    type: z.enum(['null', 'boolean', 'number', 'text', 'list', 'object', 'nothing']),
    chars: z.int().min(0).describe('characters of the whole text; JSON unless it is a text'),
    from: z.int().min(0),
    text: z.string(),
    nextFrom: z.int().nullable().describe('where to read on'),
    entries: z
      .array(z.object({ path: z.string(), type: z.string(), chars: z.int() }))
      .nullable()
      .describe('what it consists of, if it is not shown whole'),
    erased: z.boolean(),
  }),
  example: {
    command: 'clew value demo-3f9a1c --step plan#0 --part input',
    input: { runId: 'demo-3f9a1c', stepId: 'plan#0', part: 'input' },
  },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: {
      stepId: '--step <id>',
      attempt: '--attempt <number>',
      seq: '--seq <number>',
      channel: '--channel <name>',
      superstep: '--superstep <number>',
      part: '--part <part>',
      path: '--path <path>',
      from: '--from <character>',
      length: '--length <count>',
    },
  },
  async run(ledger, input) {
    const found = await readValue(ledger, input)
    const { at, path } = atPath(found.value, input.path ?? '$')
    const text = typeof at === 'string' ? at : (JSON.stringify(at) ?? '')
    const shown = text.slice(input.from, input.from + input.length)
    const end = input.from + shown.length
    const isWhole = input.from === 0 && end >= text.length
    return {
      runId: input.runId,
      of: found.of,
      seq: found.event?.ledger.seq ?? null,
      eventId: found.event?.eventId ?? null,
      path,
      type: typeOf(at),
      chars: text.length,
      from: input.from,
      text: shown,
      nextFrom: end < text.length ? end : null,
      entries: isWhole ? null : entriesOf(at, path),
      erased: found.event?.ledger.erased === true,
    }
  },
})

interface Found {
  readonly of: string
  readonly value: unknown
  readonly event: ClewEvent | null
}

type Input = z.output<typeof value.input>

async function readValue(ledger: Ledger, input: Input): Promise<Found> {
  const { runId: id, stepId, seq, channel, part } = input
  const named = [stepId, seq, channel].filter((each) => each !== undefined)
  if (named.length > 1)
    throw new ClewError(
      'bad_option',
      'More than one of step, event and channel was named',
      'Name one of them, or none for the run.',
      { option: 'stepId' },
    )
  const run = await ledger.getRun(id)
  if (!run)
    throw new ClewError('not_found', `There is no run ${id.slice(0, 200)}`, 'List the runs.', {
      runId: id.slice(0, 200),
    })
  if (seq !== undefined) {
    const event = await eventAt(ledger, id, seq)
    return { of: `event ${seq} (${event.eventType})`, value: event.payload, event }
  }
  if (stepId !== undefined) return ofStep(ledger, id, stepId, input.attempt, part)
  if (channel !== undefined) return ofState(ledger, id, channel, input.superstep)
  // They may be large, and are read only where they are asked for.
  const values = part === 'error' ? null : await ledger.getRun(id, { values: true })
  return { of: `run ${part}`, value: part === 'error' ? run.error : values?.[part], event: null }
}

async function eventAt(ledger: Ledger, id: string, seq: number): Promise<ClewEvent> {
  for await (const event of ledger.read(id, { afterSeq: seq - 1, limit: 1 }))
    if (event.ledger.seq === seq) return event
  throw new ClewError('not_found', `Run ${id.slice(0, 200)} has no event ${seq}`, 'Its steps name seqs.', {
    runId: id.slice(0, 200),
    seq,
  })
}

async function ofStep(
  ledger: Ledger,
  id: string,
  stepId: string,
  attempt: number | undefined,
  part: Input['part'],
): Promise<Found> {
  const tries = await readAttempts(ledger, id, stepId)
  const step = attempt === undefined ? tries.at(-1) : tries.find((each) => each.attempt === attempt)
  if (!step)
    throw new ClewError(
      'not_found',
      `Run ${id.slice(0, 200)} has no such step or attempt`,
      'List its steps.',
      { runId: id.slice(0, 200), stepId: stepId.slice(0, 200) },
    )
  const of = `step ${stepId} ${part}`
  const seq = part === 'input' ? step.startedSeq : step.endedSeq
  if (seq === null) return { of, value: undefined, event: null }
  const event = await eventAt(ledger, id, seq)
  return { of, value: event.payload[part], event }
}

async function ofState(
  ledger: Ledger,
  id: string,
  channel: string,
  superstep: number | undefined,
): Promise<Found> {
  const found = await ledger.getState(id, { superstep })
  if (found && Object.hasOwn(found.state, channel))
    return {
      of: `channel ${channel} at superstep ${found.superstep}`,
      value: found.state[channel],
      event: null,
    }
  const channels = Object.keys(found?.state ?? {}).slice(0, 10)
  throw new ClewError(
    'not_found',
    `The state has no channel ${channel.slice(0, 80)}`,
    channels.length === 0 ? 'The run has no state.' : `It has ${channels.join(', ')}.`,
    { channel: channel.slice(0, 80) },
  )
}

function entriesOf(at: unknown, path: string) {
  if (typeof at !== 'object' || at === null) return null
  return Object.keys(at)
    .slice(0, MAX_ENTRIES)
    .map((key) => {
      const below: unknown = Reflect.get(at, key)
      const name = Array.isArray(at)
        ? `[${key}]`
        : /^[A-Za-z_][\w-]*$/.test(key)
          ? `.${key}`
          : `[${JSON.stringify(key)}]`
      return { path: `${path}${name}`, type: typeOf(below), chars: JSON.stringify(below)?.length ?? 0 }
    })
}
