import { asOwn, ClewError, type Ledger, type RunState } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'

const channel = z.object({
  name: z.string(),
  type: z.string().describe('list, object, text, number, boolean, null, or the name of a class'),
  /** Items, keys or characters; null for what has none. */
  count: z.int().nullable(),
  bytes: z.int().describe('as JSON'),
  version: z.int().describe('how often it was changed'),
  changed: z.boolean().describe('whether this superstep changed it'),
})
export type ChannelRow = z.output<typeof channel>

export const state = answering({
  name: 'state',
  summary: 'Show the state of a graph run, now or at a superstep',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/state' },
  mcp: { tool: 'get_state' },
  input: z.object({
    runId,
    superstep: z.int().min(0).optional().describe('up to and including this superstep; default the latest'),
    key: z.string().optional().describe('only this channel, with its value'),
    full: z.boolean().optional().describe('all channels with their values'),
  }),
  output: z
    .object({
      superstep: z.int(),
      /** The latest one that the run has; the first is 0. */
      lastSuperstep: z.int(),
      next: z.array(z.string()).readonly(),
      createdAt: z.string(),
      checkpointId: z.string().nullable(),
      channels: z.array(channel),
      state: z.record(z.string(), z.unknown()).nullable().describe('null unless values were asked for'),
    })
    .nullable()
    .describe('null for a run without state'),
  example: { command: 'clew state graph-7c1e --superstep 2', input: { runId: 'graph-7c1e', superstep: 2 } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { superstep: '--superstep <number>', key: '--key <channel>', full: '--full' },
  },
  async run(ledger, { runId: id, superstep, key, full = false }) {
    if (!(await hasState(ledger, id))) return null
    const found = await ledger.getState(id, { superstep })
    if (!found) return null
    if (key !== undefined && !Object.hasOwn(found.state, key)) throw noChannel(found, key)
    const names = key === undefined ? Object.keys(found.state) : [key]
    const changed = await changedAt(ledger, id, found)
    const { next, createdAt, checkpointId } = found
    return {
      superstep: found.superstep,
      lastSuperstep: await lastSuperstep(ledger, id, found, superstep),
      next,
      createdAt,
      checkpointId,
      channels: names.map((name) => ({
        name,
        ...describeValue(found.state[name]),
        version: found.versions[name] ?? 0,
        changed: changed.has(name),
      })),
      state:
        full || key !== undefined ? Object.fromEntries(names.map((name) => [name, found.state[name]])) : null,
    }
  },
})

/** A long run of a function would be read as a whole to learn that it has none. */
async function hasState(ledger: Ledger, id: string): Promise<boolean> {
  const run = await ledger.getRun(id)
  if (!run || run.checkpoint !== null || run.forkedFrom) return true
  const types = ['execution.checkpoint', 'system.state_transitioned']
  for await (const _ of ledger.read(id, { types, limit: 1 })) return true
  return false
}

const noChannel = ({ state: values, superstep }: RunState, key: string): ClewError => {
  const channels = Object.keys(values).slice(0, 10).join(', ')
  return new ClewError(
    'not_found',
    `The state has no channel ${key.slice(0, 80)} at superstep ${superstep}`,
    channels === '' ? 'It has none.' : `It has ${channels}.`,
    { key: key.slice(0, 80) },
  )
}

/** Channels whose version differs from the superstep before; at the first one, what the input wrote. */
async function changedAt(
  ledger: Ledger,
  id: string,
  { superstep, versions }: RunState,
): Promise<Set<string>> {
  if (superstep === 0) return writtenByInput(ledger, id)
  const before = await ledger.getState(id, { superstep: superstep - 1 })
  const earlier = before?.versions ?? {}
  return new Set(Object.keys(versions).filter((name) => versions[name] !== (earlier[name] ?? 0)))
}

async function writtenByInput(ledger: Ledger, id: string): Promise<Set<string>> {
  const types = ['execution.checkpoint', 'system.state_transitioned']
  for await (const event of ledger.read(id, { types, limit: 1 })) {
    const own = asOwn(event)
    if (own?.eventType !== 'execution.checkpoint' && own?.eventType !== 'system.state_transitioned') break
    return new Set(own.payload.operations?.map(({ channel }) => channel))
  }
  return new Set()
}

async function lastSuperstep(
  ledger: Ledger,
  id: string,
  found: RunState,
  asked: number | undefined,
): Promise<number> {
  if (asked === undefined) return found.superstep
  const known = (await ledger.getRun(id))?.checkpoint?.superstep
  return known ?? (await ledger.getState(id))?.superstep ?? found.superstep
}

function describeValue(value: unknown): Pick<ChannelRow, 'type' | 'count' | 'bytes'> {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '')
  if (Array.isArray(value)) return { type: 'list', count: value.length, bytes }
  if (typeof value === 'string') return { type: 'text', count: value.length, bytes }
  if (value === null || typeof value !== 'object')
    return { type: value === null ? 'null' : typeof value, count: null, bytes }
  const maker: unknown = Reflect.get(value, 'constructor')
  if (typeof maker === 'function' && maker !== Object) return { type: maker.name, count: null, bytes }
  return { type: 'object', count: Object.keys(value).length, bytes }
}
