import { ClewError } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'

export const state = answering({
  name: 'state',
  summary: 'Show the state that a run had built, now or at a superstep',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  input: z.object({
    runId,
    superstep: z.int().min(0).optional().describe('up to and including this superstep; default the latest'),
    key: z.string().optional().describe('only this channel'),
  }),
  output: z
    .object({
      state: z.record(z.string(), z.unknown()),
      superstep: z.int(),
      next: z.array(z.string()).readonly(),
      createdAt: z.string(),
      checkpointId: z.string().nullable(),
    })
    .nullable()
    .describe('null for a run without state'),
  example: { command: 'clew state graph-7c1e --superstep 2', input: { runId: 'graph-7c1e', superstep: 2 } },
  cli: {
    group: 'Look',
    arguments: [{ word: 'run', field: 'runId', required: true, about: 'id of the run, or how it begins' }],
    options: { superstep: '--superstep <number>', key: '--key <channel>' },
    flags: { '--full': 'whole values' },
  },
  async run(ledger, { runId: id, superstep, key }) {
    const found = await ledger.getState(id, { superstep })
    if (!found || key === undefined) return found
    if (Object.hasOwn(found.state, key)) return { ...found, state: { [key]: found.state[key] } }
    const channels = Object.keys(found.state).slice(0, 10).join(', ')
    throw new ClewError(
      'not_found',
      `The state has no channel ${key.slice(0, 80)} at superstep ${found.superstep}`,
      channels === '' ? 'It has none.' : `It has ${channels}.`,
      { key: key.slice(0, 80) },
    )
  },
})
