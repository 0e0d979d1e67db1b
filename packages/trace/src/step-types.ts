/** T6: kinds of steps that pages have a picture for. Any other text is a custom one. */
export const STEP_TYPES = [
  'context_received',
  'thinking',
  'reconsidering',
  'web_search',
  'visit_page',
  'workspace_search',
  'message_sent',
  'message_edited',
  'tool_call',
  'tool_error',
] as const
export type KnownStepType = (typeof STEP_TYPES)[number]
export type StepType = KnownStepType | (string & {})

export const isKnownStepType = (text: string): text is KnownStepType =>
  (STEP_TYPES as readonly string[]).includes(text)

/** T6: where something was found. */
export interface StepSource {
  readonly type: string
  readonly title: string | null
  readonly url: string | null
  readonly domain: string | null
  readonly snippet: string | null
}
