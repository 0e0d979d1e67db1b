import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

/** The file that npm links as `clew`: checks the version of Node, then starts the command. In a clone from source. */
export const LAUNCHER = resolve(import.meta.dirname, '../bin/clew.mjs')

/** The command, from `dist`. */
export const BIN = resolve(import.meta.dirname, 'clew.mjs')

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A Node in a folder, with the environment of the tests but for what steers `clew`. */
export function startNode(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const { CLEW_STORE: _, CLEW_WORKSPACE: __, CLEW_DEBUG: ___, CLEW_MODE: ____, ...rest } = process.env
  return spawn(process.execPath, args, { cwd: folder, env: { ...rest, ...env }, timeout: 300_000 })
}

/** All that it says, and how it ends. */
export async function ended(child: ChildProcess, input?: string): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin?.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}
