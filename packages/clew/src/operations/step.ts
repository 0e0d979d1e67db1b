import { asOwn, type ClewEvent, ClewError, type Ledger, type StepSkeleton } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId, stepSkeleton } from './schemas.ts'
import { readAttempts } from './steps.ts'

export const step = answering({
  name: 'step',
  summary: 'Show one step of a run with its input and output',
  scope: 'read',
  surfaces: ['cli', 'rest', 'mcp'],
  rest: { method: 'get', path: '/v1/runs/{runId}/steps/{stepId}' },
  mcp: { tool: 'get_step' },
  input: z.object({
    runId,
    stepId: z.string().min(1).describe('id of the step'),
    attempt: z.int().min(1).optional().describe('which attempt; default the last'),
  }),
  output: z.object({
    step: stepSkeleton,
    input: z.unknown().describe('its input; null if that was not recorded'),
    values: z.unknown().describe('its output; null while there is none'),
    stack: z
      .string()
      .nullable()
      .describe('where it was thrown; null if it has not failed, or failed with a step inside it'),
    attempts: z.int().min(1).describe('number of attempts'),
    startedEventId: z.string(),
    endedEventId: z.string().nullable(),
  }),
  example: { command: 'clew step demo-3f9a1c plan#0', input: { runId: 'demo-3f9a1c', stepId: 'plan#0' } },
  cli: {
    group: 'Look',
    arguments: [
      { word: 'run', field: 'runId', required: true, about: 'id of the run, or its first characters' },
      { word: 'step', field: 'stepId', required: true, about: 'id of the step, as `clew steps` shows it' },
    ],
    options: { attempt: '--attempt <number>' },
  },
  async run(ledger, { runId: id, stepId, attempt }) {
    const tries = await readAttempts(ledger, id, stepId)
    const found = attempt === undefined ? tries.at(-1) : tries.find((each) => each.attempt === attempt)
    if (!found) throw noStep(id, stepId, attempt, tries.length)
    const [started, ended] = await readEnds(ledger, id, found)
    const failed = ended && asOwn(ended)
    return {
      step: found,
      // An attempt that was recorded with its end alone brings its input there.
      input: started?.payload.input ?? null,
      values: ended?.payload.output ?? null,
      stack: failed?.eventType === 'execution.step_failed' ? (failed.payload.stack ?? null) : null,
      attempts: tries.length,
      startedEventId: found.spanId,
      endedEventId: ended?.eventId ?? null,
    }
  },
})

/** Two events, however long the run is. */
async function readEnds(
  ledger: Ledger,
  id: string,
  { startedSeq, endedSeq }: StepSkeleton,
): Promise<[ClewEvent | undefined, ClewEvent | undefined]> {
  const at = async (seq: number | null): Promise<ClewEvent | undefined> => {
    if (seq === null) return undefined
    for await (const event of ledger.read(id, { afterSeq: seq - 1, limit: 1 })) return event
    return undefined
  }
  return [await at(startedSeq), await at(endedSeq)]
}

function noStep(id: string, stepId: string, attempt: number | undefined, tries: number): ClewError {
  const shown = stepId.slice(0, 80)
  return tries === 0
    ? new ClewError('not_found', `Run ${id} has no step ${shown}`, `List them with \`clew steps ${id}\`.`, {
        runId: id,
        stepId: shown,
      })
    : new ClewError(
        'not_found',
        `Step ${shown} of run ${id} was tried ${tries} times, and has no attempt ${attempt}`,
        'Name another one, or none for the last.',
        { runId: id, stepId: shown, attempt },
      )
}
