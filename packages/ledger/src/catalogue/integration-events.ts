import { anything, maybe, open } from './schema.ts'
import { inStep, optional, usage } from './payload-parts.ts'
import type { EventFamily } from './primitive.ts'

const call = open({
  callId: optional.text,
  service: optional.text,
  operation: optional.text,
  usage: maybe(usage),
  name: anything,
  safety: anything,
  error: anything,
  /** HTTP status of an answer, such as 200. */
  status: anything,
  ...inStep,
})

/** Calls of other services. */
export const INTEGRATION_EVENTS = {
  'integration.call': ['integration.call', call],
  'integration.response': ['integration.call', call],
  'integration.api_called': ['integration.call', call],
} as const satisfies EventFamily
