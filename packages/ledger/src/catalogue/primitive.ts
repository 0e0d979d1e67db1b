import type { Schema } from './schema.ts'

export const PRIMITIVES = [
  'execution.message',
  'execution.tool_call',
  'execution.tool_result',
  'execution.state_change',
  'system.workflow_event',
  'ui.interaction',
  'integration.call',
] as const
export type Primitive = (typeof PRIMITIVES)[number]

/** Event types of a family, each with its primitive and payload schema. */
export type EventFamily = Readonly<Record<string, readonly [Primitive, Schema<object>]>>
