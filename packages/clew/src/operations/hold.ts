import { ClewError, type HoldTarget } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'

export const listedHold = z.object({
  holdId: z.string(),
  target: z.union([
    z.object({ runId: z.string() }),
    z.object({ subject: z.string() }),
    z.object({ threadId: z.string() }),
  ]),
  reason: z.string().nullable(),
  by: z.string().nullable(),
  since: z.string(),
})
export type ListedHold = z.output<typeof listedHold>

const why = {
  reason: z.string().min(1).max(2000).optional().describe('why, for the compliance log'),
  by: z.string().min(1).max(200).optional().describe('who does it'),
}
const WHY = { reason: '--reason <text>', by: '--by <who>' } as const

export const holdAdd = answering({
  name: 'holdAdd',
  summary: 'Protect a run, a subject or a thread from retention and erasure',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/holds' },
  input: z.object({
    runId: runId.optional().describe('this run'),
    subject: z.string().min(1).optional().describe('all runs about this subject'),
    threadId: z.string().min(1).optional().describe('all runs of this thread'),
    ...why,
  }),
  output: listedHold,
  example: {
    command: 'clew hold add --subject customer-7 --reason case-12 --by legal',
    input: { subject: 'customer-7', reason: 'case 12', by: 'legal' },
  },
  cli: {
    group: 'Control',
    words: ['hold', 'add'],
    options: { runId: '--run <id>', subject: '--subject <id>', threadId: '--thread <id>', ...WHY },
  },
  run: (ledger, { reason, by, ...named }) => ledger.hold(toHoldTarget(named), { reason, by }),
})

function toHoldTarget(given: {
  runId?: string | undefined
  subject?: string | undefined
  threadId?: string | undefined
}): HoldTarget {
  const named = Object.entries(given).filter(([, value]) => value !== undefined)
  if (named.length === 1) return Object.fromEntries(named) as HoldTarget
  throw new ClewError(
    'bad_option',
    'A hold covers one run, one subject or one thread, and none or several were named',
    'Give one of --run, --subject and --thread; nothing was held.',
    { option: 'run' },
  )
}

export const holdList = answering({
  name: 'holdList',
  summary: 'List the active holds',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/holds' },
  input: z.object({}),
  output: z.object({ holds: z.array(listedHold).readonly() }),
  example: { command: 'clew hold list', input: {} },
  cli: { group: 'Control', words: ['hold', 'list'] },
  run: async (ledger) => ({ holds: await ledger.holds() }),
})

export const holdRelease = answering({
  name: 'holdRelease',
  summary: 'Release a hold',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/holds/{holdId}/release' },
  input: z.object({ holdId: z.string().min(1).describe('as `clew hold list` shows it'), ...why }),
  output: listedHold,
  example: {
    command: 'clew hold release 0198c5f2-… --by legal',
    input: { holdId: '0198c5f2-0000-7000-8000-000000000000', by: 'legal' },
  },
  cli: {
    group: 'Control',
    words: ['hold', 'release'],
    arguments: [{ word: 'hold', field: 'holdId', required: true, about: 'id of the hold' }],
    options: WHY,
  },
  run: (ledger, { holdId, reason, by }) => ledger.release(holdId, { reason, by }),
})
