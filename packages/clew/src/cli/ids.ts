import { createInterface } from 'node:readline'
import { ClewError } from '@clew/ledger'
import { type Flags, text } from './command.ts'
import type { GivenField } from './parse-input.ts'
import type { Terminal } from './terminal.ts'

/** Whether `-o ids` was asked for: what the next command of a pipe reads with `-`. */
export function wantsIds(flags: Flags): boolean {
  const form = text(flags['output'])
  if (form === undefined || form === 'ids') return form === 'ids'
  throw new ClewError('bad_option', 'The value after -o is not known', 'Use -o ids, or --json.', {
    option: '--output',
  })
}

/** One id per line. A line break inside an id would make two ids of it, so such an id cannot be passed this way. */
export async function printIds({ write }: Pick<Terminal, 'write'>, ids: readonly string[]): Promise<void> {
  await write(
    ids
      .filter((id) => !/[\r\n]/.test(id))
      .map((id) => `${id}\n`)
      .join(''),
  )
}

const RUN_FIELDS: ReadonlySet<string> = new Set(['runId', 'otherRunId'])

/** The field whose run ids come from the standard input, asked for with `-`. */
export function pipedField(given: readonly GivenField[]): GivenField | undefined {
  const piped = given.filter(({ field, value }) => RUN_FIELDS.has(field) && value === '-')
  if (piped.length > 1)
    throw new ClewError(
      'bad_option',
      'Two runs cannot both come from the standard input',
      'Name one of them.',
      {
        option: piped[1]?.name,
      },
    )
  return piped[0]
}

/** Ids as they come in, one per line; empty lines are passed over. */
export async function* readIds(): AsyncGenerator<string> {
  for await (const line of createInterface({ input: process.stdin }))
    if (line.trim() !== '') yield line.trim()
}
