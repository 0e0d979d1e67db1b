import type { JsonObject, JsonValue } from '@clew/ledger'
import { isObject, plainText } from '../foreign.ts'

/** Arguments of a function that OpenLLMetry recorded: `{ args, kwargs }` of any call, whatever was given. */
export function unwrapCall(value: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(value) || Object.keys(value).length !== 2) return value
  const { args, kwargs } = value
  if (!Array.isArray(args) || !isObject(kwargs)) return value
  const hasNames = Object.keys(kwargs).length > 0
  if (args.length === 0) return hasNames ? kwargs : undefined
  if (hasNames) return value
  return args.length === 1 ? args[0] : args
}

/** Result of a tool of LangChain, which OpenInference records as the serialized message that goes to the model. */
export function unwrapToolMessage(
  value: JsonValue | undefined,
): { readonly result: JsonValue; readonly callId: string | undefined } | undefined {
  const message = isObject(value) && isObject(value['output']) ? value['output'] : value
  if (!isObject(message) || !isSerialized(message, 'ToolMessage')) return undefined
  const { content = null, tool_call_id: callId } = message.kwargs
  return { result: content, callId: plainText(callId) }
}

interface Serialized extends JsonObject {
  readonly kwargs: JsonObject
}

const isSerialized = (value: JsonObject, name: string): value is Serialized =>
  isObject(value['kwargs']) && Array.isArray(value['id']) && value['id'].at(-1) === name
