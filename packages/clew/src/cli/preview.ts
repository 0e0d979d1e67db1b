import { stepLabel } from '@clew/ledger'
import { cut, printable } from './text.ts'

/** Payloads may have megabytes; a preview never looks further than it shows. */
const MAX_PREVIEW_CHARS = 400

/** Main fields of an event's payload on one line, safe to print. */
export function previewPayload(eventType: string, payload: unknown): string {
  if (typeof payload !== 'object' || payload === null) return ''
  const get = (key: string): unknown => Reflect.get(payload, key)
  const said = (key: string): string => {
    const value = get(key)
    return typeof value === 'string'
      ? value.slice(0, MAX_PREVIEW_CHARS)
      : value === undefined
        ? ''
        : compact(value)
  }
  const parts: string[] = []
  const add = (text: string): void => void (text !== '' && parts.push(text))
  switch (eventType) {
    case 'system.workflow_started':
      add(said('agent'))
      add(said('input'))
      break
    case 'execution.message':
    case 'execution.reasoning':
      add(said('role') && `${said('role')}:`)
      add(said('content'))
      break
    case 'execution.tool_call':
      add(`${said('name')}(${said('arguments')})`)
      break
    case 'execution.tool_result':
      add(said('name'))
      add(said('result'))
      break
    case 'execution.tool_error':
      add(said('name'))
      add(said('error'))
      break
    case 'execution.step_started':
    case 'execution.step_completed':
    case 'execution.step_failed':
    case 'execution.step_stopped':
      add(stepLabel(said('stepId'), said('name')))
      if (typeof get('attempt') === 'number' && get('attempt') !== 1) add(`attempt ${said('attempt')}`)
      add(said('input') || said('output') || said('error') || said('reason'))
      break
    case 'execution.handoff':
      add(`${said('from')} → ${said('to')}`)
      add(said('reason'))
      break
    case 'execution.decision':
      add(said('choice'))
      add(said('reason'))
      break
    case 'ui.input_requested':
      add(said('question'))
      add(said('options'))
      break
    case 'ui.input_received':
      add(said('answer'))
      add(said('by') && `by ${said('by')}`)
      break
    default:
      add(compact(payload))
  }
  return printable(parts.join(' '))
}

export const cutPreview = (text: string, width: number): string => cut(text, Math.max(0, width))

/** Compact text of a JSON value that stops writing when it has enough. */
export function compact(value: unknown, most = MAX_PREVIEW_CHARS): string {
  let text = ''
  const write = (part: unknown): boolean => {
    if (text.length > most) return false
    if (typeof part === 'string') text += JSON.stringify(part.slice(0, most))
    else if (Array.isArray(part)) {
      text += '['
      for (const [at, item] of part.entries()) {
        if (at > 0) text += ', '
        if (!write(item)) break
      }
      text += ']'
    } else if (typeof part === 'object' && part !== null) {
      text += '{ '
      let first = true
      for (const key in part) {
        text += `${first ? '' : ', '}${key}: `
        first = false
        if (!write(Reflect.get(part, key))) break
      }
      text = first ? `${text.slice(0, -1)}}` : `${text} }`
    } else text += String(part)
    return text.length <= most
  }
  write(value)
  return text.length > most ? `${text.slice(0, most)}…` : text
}
