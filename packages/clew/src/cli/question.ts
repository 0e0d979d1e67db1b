import type { Pause, RunSummary } from '@clew/ledger'
import { compact } from './preview.ts'
import type { Terminal } from './terminal.ts'
import { printable, wrap } from './text.ts'
import { formatLocal } from './time.ts'

/** Question of a pause in parts. The recorded question may be a text or any JSON value. */
export interface Question {
  readonly text: string
  readonly options: readonly unknown[]
  readonly schema: unknown
  /** Asks for nothing but to go on. */
  readonly isGate: boolean
}

export function readQuestion({ question }: Pause): Question {
  if (typeof question !== 'object' || question === null)
    return {
      text: typeof question === 'string' ? question : compact(question),
      options: [],
      schema: null,
      isGate: false,
    }
  const { question: text, options, schema, interrupt } = question as Record<string, unknown>
  return {
    text: typeof text === 'string' ? text : compact(question),
    options: Array.isArray(options) ? options : [],
    schema: schema ?? null,
    isGate: interrupt === 'before' || interrupt === 'after',
  }
}

/** Open questions, each with the line that answers it, ready to copy. */
export function questionLines(
  { output, width, next }: Pick<Terminal, 'output' | 'width' | 'next'>,
  { runId, pauses, dueAt }: Pick<RunSummary, 'runId' | 'pauses' | 'dueAt'>,
  agent?: string,
): string[] {
  const { yellow, dim } = output.colour
  const due = dueAt === null ? '' : dim(` until ${formatLocal(dueAt)}`)
  return pauses.flatMap((pause) => {
    const asked = readQuestion(pause)
    const choices = asked.options.length > 0 ? ` (${asked.options.map(optionText).join(' / ')})` : ''
    const which = pauses.length > 1 ? ` --pause ${shellWord(pause.pauseId)}` : ''
    const answer = asked.isGate ? '' : ` --answer ${sample(asked)}`
    const module =
      agent === undefined ? (asked.isGate ? ' --agent MODULE' : '') : ` --agent ${shellWord(agent)}`
    return [
      '',
      `  ${yellow('◆ waits for an answer')}${due} ${dim(printable(pause.pauseId))}`,
      ...wrap(printable(asked.text + choices), width - 4).map((line) => `    ${line}`),
      `    ${dim(next(`clew resume ${shellWord(runId)}${which}${answer}${module}`))}`,
    ]
  })
}

export const optionText = (option: unknown): string =>
  typeof option === 'string' ? option : JSON.stringify(option)

function sample({ options, schema }: Question): string {
  const [first] = options
  if (first !== undefined) return shellWord(isText(first) ? first : JSON.stringify(first))
  const type: unknown =
    typeof schema === 'object' && schema !== null ? Reflect.get(schema, 'type') : undefined
  return type === 'object' ? "'{…}'" : type === 'array' ? "'[…]'" : type === 'boolean' ? 'true' : '…'
}

/** A text that would be read as JSON is written as JSON, so that it stays a text. */
function isText(option: unknown): option is string {
  if (typeof option !== 'string') return false
  try {
    JSON.parse(option)
    return false
  } catch {
    return true
  }
}

/** As it must stand on a command line. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
