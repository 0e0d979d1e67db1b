import type { JsonObject } from '@clew/ledger'

/** An event of AG-UI as it travels: a type, and whatever fields belong to it. */
export interface AgUiEvent extends JsonObject {
  type: string
}

/** Fields of a token usage; the totals include the parts. */
export const USAGE_FIELDS: Readonly<Record<string, string>> = {
  inputTokens: 'inputTokens',
  outputTokens: 'outputTokens',
  reasoningTokens: 'reasoningTokens',
  cachedInputTokens: 'cacheReadTokens',
  cacheWriteInputTokens: 'cacheWriteTokens',
}

/** Event types for AG-UI events without an own type: stored whole and written back unchanged. */
export const KEPT: Readonly<Record<string, string>> = {
  MESSAGES_SNAPSHOT: 'execution.ag_ui.messages_snapshot',
  STATE_SNAPSHOT: 'execution.ag_ui.state_snapshot',
  STATE_DELTA: 'execution.ag_ui.state_delta',
  REASONING_ENCRYPTED_VALUE: 'execution.ag_ui.reasoning_encrypted_value',
  ACTIVITY_SNAPSHOT: 'ui.ag_ui.activity_snapshot',
  ACTIVITY_DELTA: 'ui.ag_ui.activity_delta',
  CUSTOM: 'system.ag_ui.custom',
  RAW: 'integration.ag_ui.raw',
}
export const KEPT_OTHER = 'system.ag_ui.event'
const KEPT_TYPES: ReadonlySet<string> = new Set([...Object.values(KEPT), KEPT_OTHER])

export const isKept = (eventType: string): boolean => KEPT_TYPES.has(eventType)
