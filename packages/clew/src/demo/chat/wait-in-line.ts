import { ClewError, isTerminal, type Ledger, type RunSummary } from '@clew/ledger'

/** Graphs of one stream share a state, so each begins where the one before it has ended. */
export interface InLine {
  readonly ledger: Ledger
  readonly streamId: string
  /** The run whose place is taken does not stand in the way. */
  readonly supersedes: string | undefined
  readonly signal: AbortSignal
  /** Called if the wait will not end without a person, once for each reason. */
  tell(waiting: RunSummary): Promise<void>
}

/** Begins work when its turn has come, and gives what that gives. */
export async function workInLine<T>(line: InLine, work: () => Promise<T>): Promise<T | undefined> {
  let before = await runBefore(line)
  for (;;) {
    if (before !== null) await untilOver(before, line)
    if (line.signal.aborted) return undefined
    try {
      return await work()
    } catch (error) {
      // Another one began while this one waited for the stream.
      if (!(error instanceof ClewError) || error.code !== 'unfinished') throw error
      before = String(error.fields['runId'])
    }
  }
}

async function runBefore({ ledger, streamId, supersedes }: InLine): Promise<string | null> {
  const { runs } = await ledger.listRuns({ threadId: streamId })
  const newest = runs.find(({ checkpoint }) => checkpoint !== null)
  return newest && newest.runId !== supersedes && !isTerminal(newest.status) ? newest.runId : null
}

async function untilOver(runId: string, { ledger, signal, tell }: InLine): Promise<void> {
  const told = new Set<string>()
  for await (const _ of ledger.follow({ runId, signal })) {
    const run = await ledger.getRun(runId)
    if (!run || isTerminal(run.status)) return
    const what = run.pauses[0]?.pauseId ?? run.status
    if (GOES_ON.has(run.status) || told.has(what)) continue
    told.add(what)
    await tell(run)
  }
}

/** Ends without a person: another process resumes the runs of a dead one. */
const GOES_ON: ReadonlySet<string> = new Set(['running', 'interrupted'])
