import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  /** Its next answer. */
  next(): Promise<unknown>
  tell(line: string): void
  /** Ends it if it still runs, and waits until it has. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

const SCRIPT = new URL('child.ts', import.meta.url).pathname

/** Another process, for what one process cannot show. */
export const startChild = (...args: readonly (string | number)[]): Child => startScript(SCRIPT, ...args)

/** The same, allowed to open no more than so many files. */
export const startCrowdedChild = (files: number, ...args: readonly (string | number)[]): Child =>
  follow(
    spawn('sh', [
      '-c',
      `ulimit -n ${files} && exec "$0" "$@"`,
      process.execPath,
      ...scriptArgs(SCRIPT, args),
    ]),
  )

export const startScript = (script: string, ...args: readonly (string | number)[]): Child =>
  follow(spawn(process.execPath, scriptArgs(script, args)))

const scriptArgs = (script: string, args: readonly (string | number)[]): string[] => [
  script,
  ...args.map(String),
]

function follow(child: ChildProcessWithoutNullStreams): Child {
  const ended = once(child, 'exit')
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    process: child,
    async next() {
      const { done, value } = await lines.next()
      if (done) throw new Error(`the child ended without an answer: ${errors}`)
      return JSON.parse(value) as unknown
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      await ended
    },
  }
}
