import { ClewError } from '@clew/ledger'
import { CommanderError } from 'commander'
import { hidePasswords } from '../hide-passwords.ts'
import { openLedger, type OpenLedgerOptions } from '../open-ledger.ts'
import { commandOf, type Operation } from '../operations/operation.ts'
import { type OperationName, operations } from '../operations.ts'
import { readVersion } from '../read-version.ts'
import { isServerUrl, notRemote } from '../remote/not-remote.ts'
import { openRemote } from '../remote/remote-ledger.ts'
import { buildProgram, type Chosen, toUsageError } from './build-program.ts'
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
  memoryList: async () => (await import('./commands/memory.ts')).memoryListCommand,
  memoryGet: async () => (await import('./commands/memory.ts')).memoryGetCommand,
  memorySearch: async () => (await import('./commands/memory.ts')).memorySearchCommand,
  memoryContext: async () => (await import('./commands/memory.ts')).memoryContextCommand,
  memoryPut: async () => (await import('./commands/memory-writes.ts')).memoryPutCommand,
  memoryForget: async () => (await import('./commands/memory-writes.ts')).memoryForgetCommand,
  memorySweep: async () => (await import('./commands/memory-writes.ts')).memorySweepCommand,
  memoryExport: async () => (await import('./commands/memory-writes.ts')).memoryExportCommand,
  memoryImport: async () => (await import('./commands/memory-writes.ts')).memoryImportCommand,
  show: async () => (await import('./commands/show.ts')).showCommand,
  transcript: async () => (await import('./commands/transcript.ts')).transcriptCommand,
  timeline: async () => (await import('./commands/timeline.ts')).timelineCommand,
  steps: async () => (await import('./commands/steps.ts')).stepsCommand,
  step: async () => (await import('./commands/step.ts')).stepCommand,
  value: async () => (await import('./commands/value.ts')).valueCommand,
  event: async () => (await import('./commands/event.ts')).eventCommand,
  state: async () => (await import('./commands/state.ts')).stateCommand,
  lineage: async () => (await import('./commands/lineage.ts')).lineageCommand,
  start: async () => (await import('./commands/start.ts')).startCommand,
  result: async () => (await import('./commands/start.ts')).resultCommand,
  queueList: async () => (await import('./commands/queue.ts')).queueListCommand,
  queueSet: async () => (await import('./commands/queue.ts')).queueSetCommand,
  resume: async () => (await import('./commands/resume.ts')).resumeCommand,
  debug: async () => (await import('./commands/debug.ts')).debugCommand,
  answer: async () => (await import('./commands/answer.ts')).answerCommand,
  pause: async () => (await import('./commands/pause.ts')).pauseCommand,
  signal: async () => (await import('./commands/signal.ts')).signalCommand,
  stop: async () => (await import('./commands/stop.ts')).stopCommand,
  tag: async () => (await import('./commands/tag.ts')).tagCommand,
  preview: async () => (await import('./commands/preview.ts')).previewCommand,
  score: async () => (await import('./commands/score.ts')).scoreCommand,
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
  gc: async () => (await import('./commands/gc.ts')).gcCommand,
  retention: async () => (await import('./commands/retention.ts')).retentionCommand,
  scheduleSet: async () => (await import('./commands/schedule.ts')).scheduleSetCommand,
  scheduleList: async () => (await import('./commands/schedule.ts')).scheduleListCommand,
  scheduleShow: async () => (await import('./commands/schedule.ts')).scheduleShowCommand,
  scheduleNext: async () => (await import('./commands/schedule.ts')).scheduleNextCommand,
  schedulePause: async () => (await import('./commands/schedule.ts')).schedulePauseCommand,
  scheduleResume: async () => (await import('./commands/schedule.ts')).scheduleResumeCommand,
  scheduleRemove: async () => (await import('./commands/schedule.ts')).scheduleRemoveCommand,
  holdAdd: async () => (await import('./commands/hold.ts')).holdAddCommand,
  holdList: async () => (await import('./commands/hold.ts')).holdListCommand,
  holdRelease: async () => (await import('./commands/hold.ts')).holdReleaseCommand,
  policy: async () => (await import('./commands/policy.ts')).policyCommand,
  erase: async () => (await import('./commands/erase.ts')).eraseCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  init: async () => (await import('./commands/init.ts')).initCommand,
  skill: async () => (await import('./commands/skill.ts')).skillCommand,
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
  tokenCreate: async () => (await import('./commands/token.ts')).tokenCreateCommand,
  tokenList: async () => (await import('./commands/token.ts')).tokenListCommand,
  tokenRevoke: async () => (await import('./commands/token.ts')).tokenRevokeCommand,
  vaultRotate: async () => (await import('./commands/vault.ts')).vaultRotateCommand,
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
} satisfies { [Name in OperationName]: () => Promise<Command<never>> }

/** Runs one command line and answers with its exit code; never throws, never ends the process. */
export async function main(argv: readonly string[]): Promise<number> {
  // Each write reports a broken pipe itself; without a listener the stream would end the process instead.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => {})
  const json = argv.includes('--json')
  const name = nameIn(argv)
  try {
    const chosen = parse(argv)
    return chosen ? await execute(chosen) : EXIT.fine
  } catch (error) {
    const wrongUse = error instanceof CommanderError ? toUsageError(error, name) : error
    return wrongUse === undefined ? EXIT.fine : reportFailure(wrongUse, name, json)
  }
}

/** Which command was meant, for saying what is wrong with it. */
function nameIn(argv: readonly string[]): string | null {
  const [first = '', second] = argv.filter((arg) => !arg.startsWith('-'))
  const all = (operations as readonly Operation[]).map(commandOf)
  return all.find((each) => each === first || each === `${first} ${second}`) ?? null
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
    const terminal = createTerminal(commandOf(operation), flags, stop.signal)
    const context: Omit<CommandContext<unknown>, 'input'> = {
      flags,
      terminal,
      storeUrl,
      async withLedger(work, options) {
        if (isServerUrl(storeUrl)) {
          if (!operation.rest) throw notRemote(`clew ${commandOf(operation)}`, storeUrl)
          // The server has agents of its own.
          if (hasAgentFlag(operation) && flags['agent'] !== undefined) throw notRemote('--agent', storeUrl)
          return work(openRemote(storeUrl, { workspace, token: process.env['CLEW_TOKEN'] || undefined }))
        }
        // A mistyped path must never make a new ledger, so only who writes runs makes one.
        const readOnly = operation.scope !== 'write' && operation.scope !== 'control'
        const create = operation.scope === 'write'
        const ledger = await openNoting(storeUrl, { workspace, readOnly, create, ...options }, operation)
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
        // An id that does not fit is reported, and the others continue.
        const code = await command({ ...context, input }).catch((error: unknown) =>
          reportFailure(error, commandOf(operation), terminal.json),
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

/** Opens for writing if access is audited (V8): always for exports, for reads if the workspace's policy says so. */
async function openNoting(
  url: string,
  options: OpenLedgerOptions,
  { name, scope }: Operation,
): ReturnType<typeof openLedger> {
  const ledger = await openOrExplain(url, options)
  if (options.readOnly !== true || scope !== 'read') return ledger
  if (name !== 'export' && (await ledger.policy()).auditReads !== true) return ledger
  try {
    const noting = await openLedger(url, { ...options, readOnly: false })
    await ledger.close()
    return noting
  } catch (error) {
    // On a disk that cannot be written there is nothing to note.
    if (error instanceof ClewError && error.code === 'store_readonly') return ledger
    await ledger.close()
    throw error
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
      `The ledger ${hidePasswords(url)} cannot be opened: ${error.message}`,
      hint,
      {},
      error,
    )
  }
}

const hasAgentFlag = ({ cli }: Operation): boolean => '--agent <module>' in (cli.flags ?? {})
