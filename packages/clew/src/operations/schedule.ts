import type { Ledger } from '@clew/ledger'
import type { ScheduleState } from '@clew/runtime'
import { z } from 'zod'
import { answering } from './operation.ts'
import { parseTags, tagText } from './tag.ts'

const text = z.string()
const scheduleId = z
  .string()
  .regex(/^[\w.-]{1,100}$/)
  .describe('id of the schedule')
const by = z.string().min(1).max(200).optional().describe('who does it')
const catchUp = z.enum(['skip', 'one', 'all'])
const overlap = z.enum(['skip', 'queue', 'allow'])

const definition = z.object({
  agent: text,
  cron: text.optional(),
  everyMs: z.int().optional(),
  at: text.optional(),
  timeZone: text.optional(),
  catchUp,
  overlap,
  input: z.unknown().optional(),
  queue: text.optional(),
  key: text.optional(),
  priority: z.number().optional(),
  deadlineMs: z.number().optional(),
  threadId: text.optional(),
  tags: z.record(text, text).readonly().optional(),
  subjects: z.array(text).readonly().optional(),
})

export const shownSchedule = z.object({
  id: text,
  state: z.enum(['active', 'paused', 'removed']),
  definition,
  setAt: text,
  by: text.nullable(),
  lastFired: z.object({ nominalAt: text, runId: text }).nullable(),
  lastSkipped: z
    .object({
      reason: z.enum(['late', 'overlap']),
      count: z.int().nullable().describe('null if there were very many'),
      fromAt: text,
      toAt: text,
    })
    .nullable(),
  decidedUpTo: text.describe('up to here every occurrence was fired or skipped'),
  seq: z.int(),
  next: z.array(text).readonly().describe('the next times; none while it is paused or removed'),
})
export type ShownSchedule = z.output<typeof shownSchedule>

async function withNext(state: ScheduleState, count: number): Promise<ShownSchedule> {
  const { nextOccurrences } = await import('@clew/runtime')
  return { ...state, next: nextOccurrences(state, { count }).map((time) => time.toISOString()) }
}

export const scheduleSet = answering({
  name: 'scheduleSet',
  summary: 'Set a schedule: runs of an agent that workers start by the clock',
  scope: 'control',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/schedules' },
  input: z.object({
    scheduleId,
    agent: z.string().min(1).describe('name of the agent'),
    cron: text.optional().describe('when: five fields, such as "0 9 * * 1-5", or @daily'),
    every: text.optional().describe('when: each 90s, 15m, 1h or 7d, at whole multiples since 1970 in UTC'),
    at: text.optional().describe('when: once, at this ISO time'),
    timeZone: text
      .optional()
      .describe('time zone of the cron expression, such as Europe/Berlin; default UTC'),
    input: z.unknown().optional().describe('input of each run: JSON, or else text'),
    catchUp: catchUp
      .optional()
      .describe('for occurrences missed by more than a minute: no run (default), one for all, or all'),
    overlap: overlap
      .optional()
      .describe('while an earlier run goes on: no run, one that waits its turn, or one at once (default)'),
    queue: text.optional().describe('queue of the runs'),
    priority: z.int().optional().describe('higher ones are claimed first'),
    deadlineMs: z.int().min(1).optional().describe('deadline of each run, from its submission'),
    threadId: text.optional().describe('thread of the runs'),
    tags: z.array(tagText).optional().describe('tags of the runs, as name=value, separated by commas'),
    by,
  }),
  output: shownSchedule,
  example: {
    command: 'clew schedule set report --agent-name reporter --cron @daily --time-zone Europe/Berlin',
    input: { scheduleId: 'report', agent: 'reporter', cron: '@daily', timeZone: 'Europe/Berlin' },
  },
  cli: {
    group: 'Control',
    words: ['schedule', 'set'],
    arguments: [{ word: 'schedule', field: 'scheduleId', required: true, about: 'id of the schedule' }],
    options: {
      agent: '--agent-name <name>',
      cron: '--cron <expression>',
      every: '--every <time>',
      at: '--at <time>',
      timeZone: '--time-zone <name>',
      input: '--input <value>',
      catchUp: '--catch-up <policy>',
      overlap: '--overlap <policy>',
      queue: '--queue <name>',
      priority: '--priority <number>',
      deadlineMs: '--deadline <ms>',
      threadId: '--thread <id>',
      tags: '--tag <tags>',
      by: '--by <who>',
    },
  },
  async run(ledger, { scheduleId: id, agent, tags, ...options }) {
    const { schedule } = await import('@clew/runtime')
    const state = await schedule(ledger, agent, { id, ...options, tags: tags && parseTags(tags) })
    return withNext(state, 1)
  },
})

export const scheduleList = answering({
  name: 'scheduleList',
  summary: 'List schedules',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/schedules' },
  input: z.object({ removed: z.boolean().optional().describe('removed ones, too') }),
  output: z.object({ schedules: z.array(shownSchedule).readonly() }),
  example: { command: 'clew schedule list', input: {} },
  cli: { group: 'Control', words: ['schedule', 'list'], options: { removed: '--removed' } },
  async run(ledger, { removed }) {
    const { listSchedules } = await import('@clew/runtime')
    const found = await listSchedules(ledger, { removed })
    return { schedules: await Promise.all(found.map((state) => withNext(state, 1))) }
  },
})

const ofOne = (word: string) => ({
  words: ['schedule', word] as const,
  group: 'Control' as const,
  arguments: [
    { word: 'schedule', field: 'scheduleId' as const, required: true, about: 'id of the schedule' },
  ],
})

async function shown(ledger: Ledger, id: string, count: number): Promise<ShownSchedule> {
  const { noSchedule, readSchedule } = await import('@clew/runtime')
  const state = await readSchedule(ledger, id)
  if (!state) throw noSchedule(id)
  return withNext(state, count)
}

export const scheduleShow = answering({
  name: 'scheduleShow',
  summary: 'Show a schedule: its definition, its last run, what was skipped, and when it is due next',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/schedules/{scheduleId}' },
  input: z.object({ scheduleId }),
  output: shownSchedule,
  example: { command: 'clew schedule show report', input: { scheduleId: 'report' } },
  cli: ofOne('show'),
  run: (ledger, { scheduleId: id }) => shown(ledger, id, 3),
})

export const scheduleNext = answering({
  name: 'scheduleNext',
  summary: 'List the next times of a schedule',
  scope: 'read',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/schedules/{scheduleId}/next' },
  input: z.object({
    scheduleId,
    count: z.int().min(1).max(1000).default(5).describe('how many times'),
  }),
  output: z.object({ id: text, state: shownSchedule.shape.state, next: z.array(text).readonly() }),
  example: { command: 'clew schedule next report --count 3', input: { scheduleId: 'report', count: 3 } },
  cli: { ...ofOne('next'), options: { count: '--count <count>' } },
  async run(ledger, { scheduleId: id, count }) {
    const { state, next } = await shown(ledger, id, count)
    return { id, state, next }
  },
})

const changed = <const Name extends string>(
  name: Name,
  word: 'pause' | 'resume' | 'remove',
  state: ScheduleState['state'],
  summary: string,
) =>
  answering({
    name,
    summary,
    scope: 'control',
    surfaces: ['cli', 'rest'],
    rest: { method: 'post', path: `/v1/schedules/{scheduleId}/${word}` },
    input: z.object({ scheduleId, by }),
    output: shownSchedule,
    example: { command: `clew schedule ${word} report --by ann`, input: { scheduleId: 'report', by: 'ann' } },
    cli: { ...ofOne(word), options: { by: '--by <who>' } },
    async run(ledger, { scheduleId: id, by: who }) {
      const { changeSchedule } = await import('@clew/runtime')
      return withNext(await changeSchedule(ledger, id, state, { by: who }), 1)
    },
  })

export const schedulePause = changed('schedulePause', 'pause', 'paused', 'Pause a schedule')
export const scheduleResume = changed(
  'scheduleResume',
  'resume',
  'active',
  'Resume a schedule; what was due meanwhile is not caught up',
)
export const scheduleRemove = changed(
  'scheduleRemove',
  'remove',
  'removed',
  'Remove a schedule; its runs stay',
)
