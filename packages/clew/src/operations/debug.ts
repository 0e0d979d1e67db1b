import { z } from 'zod'
import { explain } from './explain.ts'
import { fork } from './fork.ts'
import { answering } from './operation.ts'
import { controlOutcome, runId } from './schemas.ts'
import { value } from './value.ts'

export const debug = answering({
  name: 'debug',
  summary: 'Walk from a failure to its likely cause, and fork the run before it',
  scope: 'control',
  surfaces: ['cli'],
  input: z.object({
    runId,
    fork: z.boolean().optional().describe('fork before the likely cause, with the code as it is now'),
  }),
  output: z.object({
    explanation: explain.output,
    cause: value.output.nullable().describe('the likely cause as it was recorded'),
    forkAt: z
      .union([z.object({ step: z.string() }), z.object({ seq: z.int() })])
      .nullable()
      .describe('where a fork begins that does not have the cause'),
    fork: controlOutcome.nullable(),
  }),
  example: { command: 'clew debug booking-72 --agent ./agents.ts', input: { runId: 'booking-72' } },
  cli: {
    group: 'Control',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
    ],
    options: { fork: '--fork' },
    flags: { '--agent <module>': 'file or package that exports its agent, to run the fork here' },
  },
  async run(ledger, input, context = {}) {
    const { control: _, ...reading } = context
    const explanation = await explain.run(ledger, { runId: input.runId }, reading)
    const [suspect] = explanation.suspects
    const cause = suspect
      ? await value.run(ledger, value.input.parse({ runId: input.runId, seq: suspect.seq, length: 600 }))
      : null
    const step = suspect?.stepId ?? explanation.place?.stepId ?? null
    const forkAt = step !== null ? { step } : suspect && suspect.seq > 1 ? { seq: suspect.seq - 1 } : null
    const made =
      input.fork === true && forkAt !== null
        ? await fork.run(ledger, { runId: input.runId, at: forkAt }, context)
        : null
    return { explanation, cause, forkAt, fork: made }
  },
})
