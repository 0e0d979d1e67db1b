import { ClewError } from '@clew/ledger'
import type { z } from 'zod'
import { commandOf, type Operation } from '../operations/operation.ts'
import { nearMisses } from '@clew/ledger'
import { printable } from './text.ts'

export interface GivenField {
  readonly field: string
  /** As the person wrote it: `--limit`, `<run>`. */
  readonly name: string
  readonly value: string | boolean
}

/** Parses typed words into the operation's input. The schemas describe JSON; words are converted to the types they accept. */
export function parseInput(operation: Operation, given: readonly GivenField[]): unknown {
  const shape: Readonly<Record<string, z.core.$ZodType>> = operation.input.shape
  const input: Record<string, unknown> = {}
  for (const { field, name, value } of given) {
    const schema = shape[field] as z.ZodType
    input[field] = typeof value === 'string' ? parseText(schema, value, name, commandOf(operation)) : value
  }
  return operation.input.parse(input)
}

function parseText(schema: z.ZodType, text: string, name: string, command: string): unknown {
  const json = parseJson(text)
  if (takesAnything(schema)) return json === undefined ? text : json
  const readings: unknown[] = [text, text.split(',').map((part) => part.trim())]
  if (json !== undefined) readings.push(json)
  if (/^-?\d+(?:\.\d+)?$/.test(text)) readings.unshift(Number(text))
  for (const reading of readings) if (schema.safeParse(reading).success) return reading
  const values = enumValues(schema.safeParse(text))
  const near = nearMisses(text, values)
  const wanted = values.length > 0 ? `one of ${values.join(', ')}` : (schema.description ?? 'another value')
  throw new ClewError(
    'bad_option',
    `The value ${printable(JSON.stringify(text.slice(0, 60)))} of ${name} does not fit: it takes ${wanted}`,
    near.length > 0 ? `Did you mean ${near.join(', ')}?` : `See \`clew ${command} --help\`.`,
    { option: name },
  )
}

/** A value that may be anything is JSON where it can be read as such, and else text. */
const takesAnything = (schema: z.ZodType): boolean =>
  [null, true, '', [], {}].every((value) => schema.safeParse(value).success)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function enumValues(result: z.ZodSafeParseResult<unknown>): string[] {
  const [issue] = result.error?.issues ?? []
  return issue?.code === 'invalid_value' ? issue.values.map(String) : []
}
