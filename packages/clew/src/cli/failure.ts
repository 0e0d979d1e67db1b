import { inspect } from 'node:util'
import { ClewError, type ErrorCode } from '@clew/ledger'
import { hidePasswords } from '../hide-passwords.ts'
import { createColours, wantsColour } from './colour.ts'
import { answerText, ReaderGone } from './terminal.ts'
import { printable } from './text.ts'

export const EXIT = { fine: 0, no: 1, wrongUse: 2, noStore: 3, interrupted: 130 } as const

const NO_STORE: ReadonlySet<ErrorCode> = new Set([
  'newer_store',
  'older_store',
  'not_a_store',
  'store_missing',
  'store_unreachable',
  'store_refused',
  'store_locked',
  'store_full',
  'store_readonly',
  'store_corrupt',
  'store_failed',
])

/** Says what went wrong in one sentence and answers with the exit code. */
export function reportFailure(error: unknown, command: string | null, json: boolean): number {
  if (error instanceof ReaderGone) return EXIT.fine
  if (error instanceof Error && error.name === 'AbortError') return EXIT.interrupted
  const failure = withoutPasswords(toClewError(error))
  if (json) process.stdout.write(`${answerText(command, { error: failure })}\n`)
  const { red } = createColours(wantsColour(process.stderr.isTTY, process.env))
  process.stderr.write(`${red('clew:')} ${printable(failure.message)}\n`)
  if (process.env['CLEW_DEBUG']) process.stderr.write(`${hidePasswords(inspect(error))}\n`)
  if (failure.code === 'unexpected') return EXIT.no
  return NO_STORE.has(failure.code) ? EXIT.noStore : EXIT.wrongUse
}

interface Failure {
  readonly code: ErrorCode | 'unexpected'
  readonly message: string
  readonly hint: string
  readonly fields: ClewError['fields']
}

/** An error may repeat what was typed, and that may have been a URL in the wrong place. */
function withoutPasswords({ code, message, hint, fields }: Failure): Failure {
  const shown = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? hidePasswords(value) : value,
  ])
  return {
    code,
    message: hidePasswords(message),
    hint: hidePasswords(hint),
    fields: Object.fromEntries(shown) as Failure['fields'],
  }
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be used by this user',
  EPERM: 'may not be used by this user',
  EISDIR: 'is a folder',
  ENOTDIR: 'lies below something that is no folder',
  ENOSPC: 'has no room left on its disk',
  EROFS: 'lies on a disk that can only be read',
  EEXIST: 'already exists',
}

function toClewError(error: unknown): Failure {
  if (error instanceof ClewError) return error.toJSON()
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const path = error instanceof Error && 'path' in error ? String(error.path) : undefined
  const what = FILE_ERRORS[code]
  if (what !== undefined && path !== undefined)
    return new ClewError('bad_option', `${path} ${what}`, 'Name another file, or correct this one.', {
      path,
    }).toJSON()
  const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  const hint = 'This is a defect in Clew; CLEW_DEBUG=1 shows where.'
  return { code: 'unexpected', message: `Something went wrong: ${message}. ${hint}`, hint, fields: {} }
}
