export { type ClewCallbackOptions, ClewCallbackHandler } from './callbacks.ts'
export type { ActiveStep, SessionTrace, StepCompletion, StepSource } from './session-trace.ts'
