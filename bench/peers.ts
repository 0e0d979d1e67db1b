import { execFile, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * The systems that Clew is measured beside. They are a package of their own, so that nobody who only builds Clew
 * installs them, and each of their programs is a process of its own, so that none disturbs another.
 */
export interface PeerPrograms {
  readonly 'langgraph-loop': LangGraphLoop
  readonly 'langgraph-chat': LangGraphChat
  readonly 'langgraph-savers': LangGraphSavers
  readonly 'langgraph-postgres': LangGraphPostgres
  readonly dbos: DbosSteps
  readonly mastra: MastraSteps
}

export type PeerName = keyof PeerPrograms

/** Times are the best of `rounds` after one that does not count. */
export interface LangGraphLoop {
  readonly steps: number
  readonly rounds: number
  readonly msPerStep: {
    readonly noSaver: number
    readonly memory: number
    /** A file, each checkpoint written before the next step; the saver's own `synchronous` mode. */
    readonly sqliteSync: number
    /** Its default: each checkpoint written beside the next step. */
    readonly sqliteAsync: number
    /** As `sqliteSync`, and each commit waits for the disk. */
    readonly sqliteSyncFull: number
  }
  readonly synchronous: { readonly saver: string; readonly full: string }
  /** Of the newest state. */
  readonly getStateMs: number
  /** All states of one loop, newest first. */
  readonly historyMs: number
  readonly bytesPerStep: number
}

/** Of one run: the time per step over the 50 steps before `early` and before the end says whether it grows. */
export interface Growth {
  readonly steps: number
  readonly msPerStep: number
  readonly early: number
  readonly msPerStepAtEarly: number
  readonly msPerStepAtEnd: number
  /** On disk after closing. */
  readonly bytes: number
  /** What the steps gave, without any envelope. */
  readonly bytesGiven: number
}

export interface LangGraphChat {
  /** Each is the fastest of so many whole runs. */
  readonly rounds: number
  readonly loop: Growth
  /** One invocation per message on one thread. */
  readonly turns: Growth
  /** With its delta channel, which is opt-in and beta. */
  readonly deltaLoop: Growth
  readonly deltaTurns: Growth
}

export interface SaverFigures {
  readonly msPerStep: number
  readonly getStateMs: number
  readonly historyMs: number
  /** On disk after closing. */
  readonly bytes: number
}

/** Our saver beside the framework's, best of a few rounds in turn. */
export interface LangGraphSavers {
  readonly steps: number
  readonly turns: number
  readonly small: Readonly<Record<'clew' | 'theirs', SaverFigures>>
  /** One 1 KB message more per step, and as one invocation per message. */
  readonly loop: Readonly<Record<'clew' | 'theirs', SaverFigures>>
  readonly separate: Readonly<Record<'clew' | 'theirs', SaverFigures>>
}

export interface LangGraphPostgres {
  readonly steps: number
  readonly rounds: number
  readonly msPerStep: number
}

export interface DbosSteps {
  readonly steps: number
  readonly rounds: number
  readonly msPerStep: number
  /** Steps that are found recorded and not executed. */
  readonly replayMsPerStep: number
  readonly bytesPerStep: number
  readonly postgres: string
}

export interface MastraSteps extends Growth {
  readonly synchronous: string
}

export type PeerResult<Name extends PeerName> =
  | { readonly figures: PeerPrograms[Name]; readonly seconds: number }
  | { readonly leftOut: string }

const FOLDER = new URL('peers/', import.meta.url)
const LOCKFILE = new URL('package-lock.json', FOLDER)
const INSTALLED = new URL('node_modules/.installed', FOLDER)
const PROGRAM_MS = 180_000
const INSTALL_MS = 600_000

/** Why the peers cannot be measured here; undefined when they can. */
export async function installPeers(): Promise<string | undefined> {
  if (process.env['CLEW_BENCH_PEERS'] === '0') return 'CLEW_BENCH_PEERS=0 asks for that.'
  const wanted = hash('sha256', readFileSync(LOCKFILE))
  if (readInstalled() === wanted) return
  process.stdout.write('  installing the peers into bench/peers (about 300 MB, once) …\n')
  const start = performance.now()
  try {
    const npm = process.env['npm_execpath']
    const [command, first] = npm ? [process.execPath, [npm]] : ['npm', []]
    await promisify(execFile)(command, [...first, 'ci', '--fetch-retries=1'], {
      cwd: FOLDER,
      timeout: INSTALL_MS,
    })
    writeFileSync(INSTALLED, wanted)
  } catch (error) {
    // only the code of the error: its text holds addresses of this machine, and the sentence goes into the report
    const said = (error as { stderr?: string }).stderr ?? ''
    return `\`npm ci\` in bench/peers failed (${/npm error code (\S+)/.exec(said)?.[1] ?? 'no code'}); is there a network?`
  }
  process.stdout.write(`  installed in ${((performance.now() - start) / 1000).toFixed(0)} s\n`)
}

function readInstalled(): string | undefined {
  try {
    return readFileSync(INSTALLED, 'utf8')
  } catch {
    return undefined
  }
}

/** Exact versions, by package name. */
export function peerVersions(): Readonly<Record<string, string>> {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(new URL('package.json', FOLDER), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>
  return { ...dependencies, ...optionalDependencies }
}

/** Runs one program; its last line on stdout is its result. A failure is a result too: the reader must see it. */
export async function runPeer<Name extends PeerName>(
  name: Name,
  args: Readonly<Record<string, number>> = {},
  env: NodeJS.ProcessEnv = {},
): Promise<PeerResult<Name>> {
  const flags = Object.entries(args).map(([flag, value]) => `--${flag}=${value}`)
  const start = performance.now()
  // it is removed here, since a program that is ended cannot do it; PostgreSQL, as another user, must get through it
  const folder = mkdtempSync(join(tmpdir(), 'clew-peers-'))
  chmodSync(folder, 0o711)
  const child = spawn(process.execPath, [`${name}.ts`, ...flags], {
    cwd: FOLDER,
    env: {
      ...process.env,
      ...env,
      TMPDIR: folder,
      NODE_ENV: 'production',
      // one program measures our saver beside theirs
      NODE_OPTIONS: '--disable-warning=DeprecationWarning --conditions=@clew/source',
      // nothing that is measured here is to be sent anywhere
      LANGSMITH_TRACING: 'false',
      LANGCHAIN_TRACING_V2: 'false',
      MASTRA_TELEMETRY_DISABLED: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROGRAM_MS,
  })
  let out = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const ending = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(String(error)))
    child.once('close', (code, signal) => {
      if (code === 0) resolve(undefined)
      else if (child.killed) resolve(`it was ended after ${PROGRAM_MS / 1000} s`)
      else resolve(errors.match(/^\w*Error\b.*$/m)?.[0] ?? `it ended with ${signal ?? `code ${code}`}`)
    })
  })
  rmSync(folder, { recursive: true, force: true })
  if (ending !== undefined)
    return { leftOut: `bench/peers/${name}.ts failed: ${ending.replaceAll(FOLDER.pathname, '')}` }
  const figures = JSON.parse(lastLine(out)) as PeerPrograms[Name]
  return { figures, seconds: (performance.now() - start) / 1000 }
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''
