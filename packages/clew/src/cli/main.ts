import { readFileSync } from 'node:fs'
import { ClewError } from '@clew/ledger'
import { CommanderError } from 'commander'
import { openLedger } from '../open-ledger.ts'
import { type OperationName, operations } from '../operations.ts'
import { buildProgram, type Chosen, toWrongUse } from './build-program.ts'
import { type Command, type CommandContext, text } from './command.ts'
import { EXIT, reportFailure } from './failure.ts'
import { parseInput } from './parse-input.ts'
import { createTerminal } from './terminal.ts'

/** Each command is loaded when it is asked for, so that none pays for another. */
const COMMANDS = {
  runs: async () => (await import('./commands/runs.ts')).runsCommand,
  show: async () => (await import('./commands/show.ts')).showCommand,
  events: async () => (await import('./commands/events.ts')).eventsCommand,
  tail: async () => (await import('./commands/tail.ts')).tailCommand,
  verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
} satisfies { [Name in OperationName]: () => Promise<Command<never>> }

/** Runs one command line and answers with its exit code; never throws, never ends the process. */
export async function main(argv: readonly string[]): Promise<number> {
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
    const context: CommandContext<unknown> = {
      input: parseInput(operation, given),
      flags,
      terminal: createTerminal(operation.name, flags, stop.signal),
      storeUrl,
      async withLedger(work, options) {
        // A mistyped path must never make a new ledger, so whoever only reads opens only what is there.
        const readOnly = operation.scope !== 'write'
        const ledger = await openOrExplain(storeUrl, { workspace, readOnly, ...options })
        try {
          return await work(ledger)
        } finally {
          await ledger.close()
        }
      },
    }
    const command = (await COMMANDS[operation.name as OperationName]()) as Command<unknown>
    return await command(context)
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
