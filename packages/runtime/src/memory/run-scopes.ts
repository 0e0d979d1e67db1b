import type { Ledger, MemoryScope, RunSummary } from '@clew/ledger'

export interface RunScopes {
  readonly run: RunSummary | null
  /** A child run works in the thread of the run it works for. */
  readonly threadId: string | null
  /** Scopes that a run reads by default. */
  readonly visible: readonly MemoryScope[]
}

/**
 * The scopes of a run: short memory is its own, also in a child run, since children work side by side and would overwrite
 * each other; they share the session.
 */
export async function findScopes(
  ledger: Ledger,
  runId: string,
  agent: string,
  given: string | null,
): Promise<RunScopes> {
  const run = await ledger.getRun(runId)
  let above = run
  const subjects = new Set(run?.subjects)
  while (above && above.threadId === null && above.parentRunId !== null) {
    above = await ledger.getRun(above.parentRunId)
    for (const subject of above?.subjects ?? []) subjects.add(subject)
  }
  // As it was given, if it is known here: earlier turns may have been recorded under it.
  const threadId = run?.threadId === null ? (above?.threadId ?? null) : (given ?? run?.threadId ?? null)
  const visible: MemoryScope[] = [
    { layer: 'short', scope: runId },
    ...(threadId === null ? [] : [{ layer: 'session', scope: threadId } as const]),
    { layer: 'long', scope: 'workspace' },
    { layer: 'long', scope: `agent:${agent}` },
    ...[...subjects].map((subject) => ({ layer: 'long', scope: `user:${subject}` }) as const),
  ]
  return { run, threadId, visible }
}
