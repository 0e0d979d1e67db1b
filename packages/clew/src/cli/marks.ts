import type { RunStatus, StepStatus } from '@clew/ledger'
import type { Colours, Style } from './colour.ts'

const STATUS: Readonly<Record<RunStatus | StepStatus, readonly [mark: string, style: Style]>> = {
  pending: ['○', 'dim'],
  running: ['●', 'cyan'],
  paused: ['◆', 'yellow'],
  blocked: ['◆', 'red'],
  completed: ['✓', 'green'],
  failed: ['✗', 'red'],
  stopped: ['■', 'yellow'],
  partial: ['◐', 'yellow'],
  interrupted: ['!', 'yellow'],
  superseded: ['○', 'dim'],
  deleted: ['○', 'dim'],
}

export function statusMark(colour: Colours, status: RunStatus | StepStatus): string {
  const [mark, style] = STATUS[status]
  return colour[style](mark)
}

export function statusText(colour: Colours, status: RunStatus | StepStatus): string {
  const [mark, style] = STATUS[status]
  return colour[style](`${mark} ${status}`)
}

/** `execution.` in the background, what happened in front. */
export function typeText(colour: Colours, eventType: string, width: number): string {
  const dot = eventType.indexOf('.') + 1
  const prefix = eventType.slice(0, dot)
  const rest = eventType.slice(dot)
  const style = TYPE_STYLE.find(([pattern]) => pattern.test(eventType))?.[1]
  const shown = style ? colour[style](rest) : rest
  return `${colour.dim(prefix)}${shown}${' '.repeat(Math.max(0, width - eventType.length))}`
}

const TYPE_STYLE: readonly (readonly [RegExp, Style])[] = [
  [/(?:failed|error|blocked)$/, 'red'],
  [/(?:stopped|paused|interrupted|input_requested)$/, 'yellow'],
  [/completed$/, 'green'],
  [/tool_/, 'magenta'],
  [/message|reasoning|structured/, 'blue'],
  [/^(?:system|ui)\./, 'cyan'],
]
