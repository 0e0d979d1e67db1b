import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Output for text that may be longer than the screen. */
export interface Pager {
  write(text: string): Promise<void>
  /** Shows what is held back, or waits until the reader has closed the pager. */
  end(): Promise<void>
}

export interface PagerParts {
  /** Lines of the terminal. */
  readonly rows: number
  readonly command: string
  readonly env: NodeJS.ProcessEnv
  /** Past the pager: straight to the terminal. */
  direct(text: string): Promise<void>
  /** Error to throw if the user closed the pager before the end. */
  gone(): Error
}

/** The pager that people have chosen; undefined when they want none. */
export function choosePager(env: NodeJS.ProcessEnv): string | undefined {
  const chosen = env['CLEW_PAGER'] ?? env['PAGER'] ?? 'less'
  return chosen.trim() === '' || chosen.trim() === 'cat' ? undefined : chosen
}

/** Holds a screenful back; what is longer goes through the pager from its first line on. */
export function createPager({ rows, command, env, direct, gone }: PagerParts): Pager {
  let held: string[] = []
  let lines = 0
  let child: ChildProcess | undefined
  let closed = false

  function open(): ChildProcess {
    // R shows colours, X leaves the text on the screen, F ends immediately if all of it fits.
    const started = spawn(command, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...env, LESS: env['LESS'] ?? 'FRX' },
    })
    // Closing the pager early breaks the pipe; each write reports that error itself.
    started.stdin?.on('error', () => {})
    started.once('close', () => (closed = true))
    started.once('error', () => (closed = true))
    return started
  }

  async function pour(text: string): Promise<void> {
    const stdin = child?.stdin
    if (!stdin || closed) throw gone()
    await new Promise<void>((resolve, reject) => {
      stdin.write(text, (error) => (error ? reject(gone()) : resolve()))
    })
  }

  return {
    async write(text) {
      if (child) return pour(text)
      held.push(text)
      lines += text.split('\n').length - 1
      if (lines < rows) return
      child = open()
      const first = held.join('')
      held = []
      return pour(first)
    },
    async end() {
      if (!child) {
        const rest = held.join('')
        held = []
        if (rest !== '') await direct(rest)
        return
      }
      child.stdin?.end()
      if (!closed) await once(child, 'close')
    },
  }
}
