import { ClewError } from '@clew/ledger'
import type { ReplayProgress } from '@clew/runtime'
import { z } from 'zod'
import { chooseRuns, replayOne, summarise } from '../replay/replay-runs.ts'
import { place, readPlace } from './fork-place.ts'
import { answering } from './operation.ts'
import { REPLAY_MODES, replayAnswer, type ReplayedRun } from './replay-schema.ts'
import { controlOf } from './resume.ts'
import { runId } from './schemas.ts'

export const replay = answering({
  name: 'replay',
  summary: 'Replay a run from its record and report where the code diverges',
  scope: 'control',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'post', path: '/v1/runs/{runId}/replay', also: '/v1/replay' },
  mcp: {
    tool: 'replay',
    effect:
      'Runs the code of its agent on recorded results; what-if makes a new run, live from a step on, with real effects.',
  },
  input: z.object({
    runId: runId.optional().describe('id of the run'),
    all: z.boolean().optional().describe('every matching run, or every fixture in a folder'),
    mode: z
      .enum(REPLAY_MODES)
      .default('re-execute')
      .describe(
        're-execute (the code runs again on recorded results), reconstruct (nothing runs) or what-if (live from a step on)',
      ),
    at: place.optional().describe('what-if: live before a step, after a superstep or an event (seq:N)'),
    input: z.unknown().optional().describe('what-if: another input, JSON or else text'),
    state: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('what-if: what to write into the state of a graph there, a JSON object by channel'),
    volatile: z
      .array(z.string())
      .optional()
      .describe('fields to ignore, such as input.requestId or output.at, separated by commas'),
    keep: z.boolean().optional().describe('store the report as a run'),
    agent: z.string().optional().describe('with --all: only runs of this agent'),
    since: z
      .string()
      .optional()
      .describe('with --all: only runs that began since: 15m, 1h, 7d ago, or a date'),
    limit: z.int().min(1).optional().describe('with --all: how many at most, newest first'),
  }),
  output: replayAnswer,
  example: {
    command: 'clew replay trip-12 --agent ./agents.ts',
    input: { runId: 'trip-12' },
  },
  cli: {
    group: 'Prove',
    arguments: [
      {
        word: 'run',
        field: 'runId',
        required: false,
        about: 'id of the run, or its first characters; with --all a fixture or a folder of them',
      },
    ],
    options: {
      all: '--all',
      mode: '--mode <mode>',
      at: '--at <place>',
      input: '--input <value>',
      state: '--state <json>',
      volatile: '--volatile <paths>',
      keep: '--keep',
      agent: '--agent-name <name>',
      since: '--since <time>',
      limit: '--limit <count>',
    },
    flags: { '--agent <module>': 'file or package that exports the agents' },
  },
  async run(
    ledger,
    { runId: id, all, agent, since, limit, at, ...rest },
    { onEvent, onProgress, ...context } = {},
  ) {
    const control = await controlOf(ledger, context)
    const request = {
      ...rest,
      at: at === undefined ? undefined : readPlace(at),
      onProgress: onProgress && (({ done }: ReplayProgress) => onProgress(done)),
    }
    if (all !== true) {
      if (id === undefined) throw noRun()
      const report = await control.replay(id, { ...request, onEvent })
      const run = await ledger.getRun(id)
      return summarise([{ runId: id, agent: run?.agent ?? null, file: null, report, error: null }])
    }
    const { runs, left } = await chooseRuns(ledger, control, { agent, since, limit, mode: request.mode })
    const done: ReplayedRun[] = []
    for (const run of runs) done.push(await replayOne(control, run, request))
    return summarise(done, left)
  },
})

const noRun = (): ClewError =>
  new ClewError('bad_option', 'No run was named', 'Name one, or replay all of them with --all.', {
    option: 'run',
  })
