import { amount, flag, integer, listOf, maybe, open, pairOf, text } from './schema.ts'

// Payloads are open: a known field must have its type, further fields are kept as they came (E3).
export const count = integer(0)
export const texts = maybe(listOf(text))
export const optional = { text: maybe(text), count: maybe(count), flag: maybe(flag), amount: maybe(amount) }

export const error = open({ name: optional.text, code: optional.text, message: optional.text })
export const usage = open({
  /** All input tokens, cached ones included. */
  inputTokens: optional.count,
  outputTokens: optional.count,
  cacheReadTokens: optional.count,
  cacheWriteTokens: optional.count,
  reasoningTokens: optional.count,
})

/** Limits of the run, counted over all its resumes. */
export const bounded = {
  budget: maybe(
    open({ steps: optional.amount, tokens: optional.amount, cost: optional.amount, timeMs: optional.amount }),
  ),
}

/** Warnings of this life of the run: redacted text that its code or its effects received (P2). */
export const warned = { warnings: texts }

export const inStep = { stepId: optional.text }
/** Readings of `run.now()` since the event before, each with the step whose code took it ('' at the top): D3. */
export const readings = { clock: maybe(listOf(pairOf(text, amount))) }
