import type { Writable } from 'node:stream'
import { SCHEMA_VERSION } from '@clew/ledger'
import { hidePasswords } from '../hide-passwords.ts'
import { type Colours, createColours, wantsColour } from './colour.ts'
import type { Flags } from './command.ts'
import { choosePager, createPager } from './pager.ts'
import { jsonText, printable } from './text.ts'

/** The reader of our output has closed it (`| head`): no error, there is just no reader left. */
export class ReaderGone extends Error {}

interface Side {
  readonly stream: Writable
  readonly isTerminal: boolean
  readonly colour: Colours
}

export interface Terminal {
  readonly command: string
  readonly json: boolean
  readonly output: Side
  readonly errors: Side
  readonly width: number
  /** A next command to name in a footer, with the store and workspace that were named in this one; never with a password. */
  next(command: string): string
  /** A person can be asked. */
  readonly interactive: boolean
  /** Ctrl-C, or the request of the system to end. */
  readonly signal: AbortSignal
  /** Writes and waits until there is room again; rejects with `ReaderGone` if the reader has closed the output. */
  write(text: string): Promise<void>
  print(lines: readonly string[]): Promise<void>
  /** The one answer of a command: as JSON if that was asked for, else as its lines (A1). */
  answer(data: unknown, lines: () => readonly string[]): Promise<void>
  /** Shows what a pager still holds and waits until it is closed; called by the creator of the terminal. */
  end(): Promise<void>
}

/** These speak as things happen or ask back, so nothing of them may be held for a pager. */
const LIVE: ReadonlySet<string> = new Set([
  'erase',
  'demo',
  'tail',
  'completion',
  'resume',
  'fork',
  'replay',
  'stop',
  'worker',
  'serve',
  'mcp',
  'debug',
])

export function createTerminal(command: string, flags: Flags, signal: AbortSignal): Terminal {
  const json = flags['json'] === true
  const { stdout, stderr, stdin, env } = process
  const side = (stream: NodeJS.WriteStream): Side => ({
    stream,
    isTerminal: stream.isTTY,
    colour: createColours(wantsColour(stream.isTTY, env)),
  })
  const output = side(stdout)

  const direct = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      stdout.write(text, (error) => {
        if (!error) resolve()
        else reject('code' in error && error.code === 'EPIPE' ? new ReaderGone() : error)
      })
    })
  const chosen = choosePager(env)
  const paged = output.isTerminal && !json && flags['pager'] !== false && flags['watch'] !== true
  const pager =
    paged && chosen !== undefined && !LIVE.has(command)
      ? createPager({ rows: stdout.rows ?? 24, command: chosen, env, direct, gone: () => new ReaderGone() })
      : undefined
  const write = pager ? pager.write : direct
  const print = (lines: readonly string[]): Promise<void> => write(`${lines.join('\n')}\n`)

  return {
    command,
    json,
    output,
    errors: side(stderr),
    width: stdout.columns || Number(env['COLUMNS']) || 120,
    interactive: stdin.isTTY && output.isTerminal && !json,
    signal,
    next: (next) => printable(again(next, flags)),
    write,
    print,
    end: async () => pager?.end(),
    answer: (data, lines) => (json ? write(`${answerText(command, { data })}\n`) : print(lines())),
  }
}

/** In the same store and workspace. A URL with a password is left to CLEW_STORE: arguments are seen in the list of processes. */
function again(command: string, { store, workspace }: Flags): string {
  const inWorkspace = workspace === undefined ? '' : ` --workspace ${String(workspace)}`
  if (store === undefined) return `${command}${inWorkspace}`
  const url = String(store).replaceAll(/\s/g, '%20')
  const shown = hidePasswords(url)
  return shown === url
    ? `${command} --store ${String(store)}${inWorkspace}`
    : `CLEW_STORE='${shown}' ${command}${inWorkspace}`
}

export function answerText(command: string | null, body: { data: unknown } | { error: unknown }): string {
  return jsonText(
    { schema_version: SCHEMA_VERSION, command, generated_at: new Date().toISOString(), ...body },
    2,
  )
}
