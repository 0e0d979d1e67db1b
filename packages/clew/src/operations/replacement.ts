import { z } from 'zod'

/** One recorded value that a fork has otherwise; `Replacement` of the runtime as JSON. */
export const replacement = z
  .union([
    z.strictObject({ step: z.string().min(1), output: z.json() }),
    z.strictObject({ step: z.string().min(1), answer: z.json() }),
    z.strictObject({ pauseId: z.string().min(1), answer: z.json() }),
    z.strictObject({ step: z.string().min(1), input: z.json() }),
  ])
  .optional()
  .describe(
    'one recorded value that the fork has otherwise, as JSON: {"step","output"} a result, {"step","answer"} an answer, {"step","input"} what a step is performed with',
  )
