import { readFileSync } from 'node:fs'
import { ClewError } from '@clew/ledger'
import { CommanderError } from 'commander'
import { openLedger } from '../open-ledger.ts'
import { type OperationName, operations } from '../operations.ts'
import { buildProgram, type Chosen, toWrongUse } from './build-program.ts'
import { type Command, type CommandContext, text } from './command.ts'
import { EXIT, reportFailure } from './failure.ts'
import { pipedField, readIds } from './ids.ts'
import { parseInput } from './parse-input.ts'
import { createTerminal } from './terminal.ts'

/** Each command is loaded when it is asked for, so that none pays for another. */
const COMMANDS = {
  search: async () => (await import('./commands/search.ts')).searchCommand,
  rebuild: async () => (await import('./commands/rebuild.ts')).rebuildCommand,
  reindex: async () => (await import('./commands/reindex.ts')).reindexCommand,
  runs: async () => (await import('./commands/runs.ts')).runsCommand,
  show: async () => (await import('./commands/show.ts')).showCommand,
  transcript: async () => (await import('./commands/transcript.ts')).transcriptCommand,
  timeline: async () => (await import('./commands/timeline.ts')).timelineCommand,
  steps: async () => (await import('./commands/steps.ts')).stepsCommand,
  state: async () => (await import('./commands/state.ts')).stateCommand,
  lineage: async () => (await import('./commands/lineage.ts')).lineageCommand,
  resume: async () => (await import('./commands/resume.ts')).resumeCommand,
  stop: async () => (await import('./commands/stop.ts')).stopCommand,
  worker: async () => (await import('./commands/worker.ts')).workerCommand,
  fork: async () => (await import('./commands/fork.ts')).forkCommand,
  replay: async () => (await import('./commands/replay.ts')).replayCommand,
  graph: async () => (await import('./commands/graph.ts')).graphCommand,
  causes: async () => (await import('./commands/causality.ts')).causesCommand,
  effects: async () => (await import('./commands/causality.ts')).effectsCommand,
  events: async () => (await import('./commands/events.ts')).eventsCommand,
  tail: async () => (await import('./commands/tail.ts')).tailCommand,
  cost: async () => (await import('./commands/cost.ts')).costCommand,
  diff: async () => (await import('./commands/diff.ts')).diffCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  audit: async () => (await import('./commands/audit.ts')).auditCommand,
  compliance: async () => (await import('./commands/compliance.ts')).complianceCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
} satisfies { [Name in OperationName]: () => Promise<Command<never>> }

/** Runs one command line and answers with its exit code; never throws, never ends the process. */
export async function main(argv: readonly string[]): Promise<number> {
  // Each write learns of a broken pipe by itself; without a listener the stream would end the process instead.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => {})
  const json = argv.includes('--json')
  const name =
    operations.find((operation) => operation.name === argv.find((arg) => !arg.startsWith('-')))?.name ?? null
  try {
    const chosen = parse(argv)
    return chosen ? await execute(chosen) : EXIT.fine
  } catch (error) {
    const wrongUse = error instanceof CommanderError ? toWrongUse(error, name) : error
    return wrongUse === undefined ? EXIT.fine : reportFailure(wrongUse, name, json)
  }
}

/** Undefined when the command line only asked for help or the version, which is then already written. */
function parse(argv: readonly string[]): Chosen | undefined {
  let chosen: Chosen | undefined
  const program = buildProgram(readVersion(), (found) => (chosen = found))
  if (argv.length === 0) program.outputHelp()
  else program.parse(argv, { from: 'user' })
  return chosen
}

async function execute({ operation, given, flags }: Chosen): Promise<number> {
  const stop = new AbortController()
  // Once only: who presses Ctrl-C twice means it.
  const onSignal = (): void => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  try {
    const storeUrl = text(flags['store']) ?? (process.env['CLEW_STORE'] || 'sqlite:.clew/ledger.db')
    const workspace = text(flags['workspace']) ?? (process.env['CLEW_WORKSPACE'] || undefined)
    const terminal = createTerminal(operation.name, flags, stop.signal)
    const context: Omit<CommandContext<unknown>, 'input'> = {
      flags,
      terminal,
      storeUrl,
      async withLedger(work, options) {
        // A mistyped path must never make a new ledger, so only who writes runs makes one.
        const readOnly = operation.scope !== 'write' && operation.scope !== 'control'
        const create = operation.scope === 'write'
        const ledger = await openOrExplain(storeUrl, { workspace, readOnly, create, ...options })
        try {
          return await work(ledger)
        } finally {
          await ledger.close()
        }
      },
    }
    const command = (await COMMANDS[operation.name as OperationName]()) as Command<unknown>
    try {
      const piped = pipedField(given)
      if (!piped) return await command({ ...context, input: parseInput(operation, given) })
      let worst: number = EXIT.fine
      for await (const value of readIds()) {
        stop.signal.throwIfAborted()
        const input = parseInput(operation, given.with(given.indexOf(piped), { ...piped, value }))
        // One id that does not fit is told, and the others go on.
        const code = await command({ ...context, input }).catch((error: unknown) =>
          reportFailure(error, operation.name, terminal.json),
        )
        worst = Math.max(worst, code)
      }
      return worst
    } finally {
      await terminal.end()
    }
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

async function openOrExplain(
  ...[url, options]: Parameters<typeof openLedger>
): ReturnType<typeof openLedger> {
  try {
    return await openLedger(url, options)
  } catch (error) {
    if (error instanceof ClewError || !(error instanceof Error)) throw error
    const hint = 'Check that the folder is there and that this user may use it.'
    throw new ClewError(
      'store_failed',
      `The ledger ${withoutPassword(url)} cannot be opened: ${error.message}`,
      hint,
      {},
      error,
    )
  }
}

const withoutPassword = (url: string): string => url.replace(/\/\/[^@/]*@/, '//…@')

function readVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
