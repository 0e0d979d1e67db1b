import {
  asErasable,
  beganMs,
  beginsStep,
  type ClewEvent,
  type ErasableEvent,
  isPlaceholder,
  stepLabel,
} from '@clew/ledger'
import type { Colours, Style } from './colour.ts'
import { compact } from './preview.ts'
import { cut, pad, printable, wrap } from './text.ts'
import { formatDuration } from './time.ts'

const SEQ = 5
const STEP = 14

/** One line of the story: a sign and a text; `typed` is printed word by word. */
interface Beat {
  readonly sign: string
  readonly style: Style
  readonly text: string
  readonly typed?: boolean
  readonly quiet?: boolean
}

export interface StoryLines {
  /** Part of the line that is printed immediately, before the text. */
  readonly lead: string
  readonly lines: readonly string[]
  readonly indent: string
  readonly typed: boolean
}

/** Prints a run as it happens, one aligned line per event, from nothing but its events. */
export function createStory(colour: Colours, width: number): (event: ClewEvent) => StoryLines | undefined {
  const startedMs = new Map<string, number>()
  const nested = new Set<string>()
  const names = new Map<string, string>()

  return (event) => {
    const { correlationId, eventType, timestamp } = event
    const { attempt = 1, parentRunId } = event.payload
    const stepId = textOf(event.payload.stepId)
    const key = `${correlationId} ${stepId} ${Number(attempt)}`
    if (eventType === 'system.workflow_started' && textOf(parentRunId) !== '') nested.add(correlationId)
    const at = Date.parse(timestamp)
    const runKey = `${correlationId}  `
    const name = textOf(event.payload.name)
    if (beginsStep(event) && name !== '') names.set(`${correlationId} ${stepId}`, name)
    if (beginsStep(event, startedMs.has(key))) startedMs.set(key, beganMs(event))
    if (eventType === 'system.workflow_started') startedMs.set(runKey, at)
    const began = startedMs.get(eventType.startsWith('system.') ? runKey : key)
    const own = asErasable(event)
    const beat = own && toBeat(own, began === undefined ? '' : formatDuration(at - began))
    if (!beat) return undefined

    const gutter = nested.has(correlationId) ? '┊ ' : ''
    const label = pad(
      cut(gutter + printable(shortStep(stepLabel(stepId, names.get(`${correlationId} ${stepId}`)))), STEP),
      STEP,
    )
    const lead = `${colour.dim(String(event.ledger.seq).padStart(SEQ))}  ${colour.dim(label)}  ${colour[beat.style](beat.sign)}  `
    const indent = `${' '.repeat(SEQ + 2)}${colour.dim(pad(gutter, STEP))}     `
    const plain = wrap(printable(beat.text), Math.max(24, Math.min(width, 110) - SEQ - STEP - 8))
    const paint = beat.quiet === true ? colour.dim : (line: string) => line
    return {
      lead,
      indent,
      typed: beat.typed === true,
      lines: plain.map((line) => paint(markPlaceholders(colour, line))),
    }
  }
}

function toBeat(event: ErasableEvent, took: string): Beat | undefined {
  switch (event.eventType) {
    case 'system.workflow_started':
      return {
        sign: '●',
        style: 'cyan',
        text: `${event.payload.agent ?? ''} starts · run ${event.correlationId}`,
      }
    case 'execution.message': {
      const text = textOf(event.payload.content)
      return event.payload.role === 'user'
        ? { sign: '❯', style: 'bold', text }
        : { sign: '❝', style: 'blue', text, typed: true }
    }
    case 'execution.reasoning':
      return { sign: '✻', style: 'magenta', text: textOf(event.payload.content), quiet: true }
    case 'execution.step_started': {
      const { attempt = 1, kind = '' } = event.payload
      return {
        sign: '▸',
        style: 'dim',
        text: `${kind}${attempt > 1 ? ` · attempt ${attempt}` : ''}`,
        quiet: true,
      }
    }
    case 'execution.step_completed':
      return {
        sign: '✓',
        style: 'green',
        text: [took, tokens(event.payload.usage)].filter(Boolean).join(' · '),
        quiet: true,
      }
    case 'execution.step_failed':
      return { sign: '✗', style: 'red', text: `failed after ${took}` }
    case 'execution.step_stopped':
      return { sign: '■', style: 'yellow', text: `stopped after ${took}`, quiet: true }
    case 'execution.tool_call':
      return {
        sign: '→',
        style: 'magenta',
        text: `${event.payload.name ?? ''} · ${flat(event.payload.arguments)}`,
      }
    case 'execution.tool_result':
      return { sign: '←', style: 'magenta', text: flat(event.payload.result), quiet: true }
    case 'execution.tool_error':
      return { sign: '←', style: 'red', text: errorText(event.payload.error) }
    case 'execution.handoff':
      return {
        sign: '⇢',
        style: 'cyan',
        text: `hands over to ${event.payload.to ?? ''}: ${event.payload.reason ?? ''}`,
      }
    case 'ui.input_requested':
      return {
        sign: '?',
        style: 'yellow',
        text: `${textOf(event.payload.question)} ${choices(event.payload.options)}`,
      }
    case 'system.workflow_paused':
      return { sign: '◆', style: 'yellow', text: 'paused until somebody answers', quiet: true }
    case 'ui.input_received':
      return { sign: '❯', style: 'bold', text: `${textOf(event.payload.answer)} (${event.payload.by ?? ''})` }
    case 'system.workflow_resumed':
      return { sign: '▸', style: 'dim', text: 'goes on', quiet: true }
    case 'integration.call':
      return {
        sign: '→',
        style: 'magenta',
        text: `${event.payload.service ?? ''} ${event.payload.operation ?? ''}`,
      }
    case 'integration.response':
      return { sign: '←', style: 'magenta', text: `status ${String(event.payload.status)}`, quiet: true }
    case 'execution.structured_output':
      return { sign: '▤', style: 'blue', text: flat(event.payload.value, 160), quiet: true }
    case 'system.workflow_completed':
      return { sign: '●', style: 'green', text: `completed in ${took}` }
    case 'system.workflow_stopped':
      return { sign: '■', style: 'yellow', text: `stopped after ${took}: ${event.payload.reason ?? ''}` }
    case 'system.workflow_failed':
      return { sign: '●', style: 'red', text: `failed after ${took}` }
    default:
      return undefined
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const shortStep = (stepId: string): string => stepId.replaceAll('#0', '')
const choices = (options: unknown): string =>
  Array.isArray(options) ? `(${options.map(String).join(' / ')})` : ''

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** The leaves of a value with their paths: quieter than braces and quotes. */
function flat(value: unknown, most = 240): string {
  const leaves: string[] = []
  const walk = (part: unknown, path: string): void => {
    if (isObject(part) && !Array.isArray(part))
      for (const key in part) walk(part[key], path === '' ? key : `${path}.${key}`)
    else {
      const text = typeof part === 'string' ? part : compact(part, most)
      leaves.push(path === '' ? text : `${path}: ${text}`)
    }
  }
  walk(value, '')
  return cut(leaves.join(' · '), most)
}

function errorText(error: unknown): string {
  if (!isObject(error)) return textOf(error)
  return [error['name'], error['message']].map(textOf).filter(Boolean).join(': ')
}

function tokens(usage: unknown): string {
  if (!isObject(usage)) return ''
  const { inputTokens, outputTokens } = usage
  return `${String(inputTokens)} tokens in, ${String(outputTokens)} out`
}

/** Highlights placeholders. */
function markPlaceholders(colour: Colours, line: string): string {
  return line.replace(/\[redacted:[^\]\s]+\]/g, (found) =>
    isPlaceholder(found) ? colour.yellow(found) : found,
  )
}
