import { systemRunId, isSystemRun } from '../event/system-run.ts'
import { isTerminal } from '../fold/run-summary.ts'
import { parseMemoryRunId } from '../memory/item.ts'
import type { RetentionFacts, RunFacts } from './facts.ts'
import type { RetentionMatch, RetentionPolicy, RetentionRule } from './policy.ts'

/** Whether a match is about a run of this workspace. */
export function fits(match: RetentionMatch, run: RunFacts, workspace: string): boolean {
  if (match.workspace !== undefined && match.workspace !== workspace) return false
  if (match.systemRun !== undefined) return run.runId.startsWith(systemRunId(match.systemRun, ''))
  if (match.layer !== undefined) return parseMemoryRunId(run.runId)?.layer === match.layer
  return (
    !isSystemRun(run.runId) &&
    (match.agent === undefined || match.agent === run.agent) &&
    (match.status === undefined || match.status.includes(run.status))
  )
}

/** A rule of the policy keeps it. */
export const isKeptBy = (
  { keep }: RetentionPolicy,
  { workspace, nowMs }: Pick<RetentionFacts, 'workspace' | 'nowMs'>,
  run: RunFacts,
): boolean =>
  keep.some(
    ({ match, youngerThanMs = Number.POSITIVE_INFINITY }) =>
      fits(match, run, workspace) && nowMs - run.recordedMs < youngerThanMs,
  )

/** The rule by which each run would be deleted as a whole, if no other run needs it. The first matching rule counts. */
export function selectRuns(policy: RetentionPolicy, facts: RetentionFacts): Map<string, string> {
  const { workspace } = facts
  const selected = new Map<string, string>()
  const there = facts.runs.filter(({ status }) => status !== 'deleted')
  const ids = new Set(there.map(({ runId }) => runId))
  // Child runs are part of their parent and go with it.
  const roots = there.filter(({ parentRunId }) => parentRunId === null || !ids.has(parentRunId))
  const lastUsed = createLastUsed(there)
  const isKept = (run: RunFacts): boolean => isKeptBy(policy, facts, run)
  for (const rule of policy.rules) {
    if (rule.match.types || rule.match.systemRun !== undefined) continue
    const matching = roots.filter((run) => fits(rule.match, run, workspace))
    for (const run of beyondLimit(rule, matching, facts, lastUsed))
      if (mayGoBy(rule, run) && !isKept(run) && !selected.has(run.runId)) selected.set(run.runId, rule.name)
  }
  for (const run of there) followParent(run, selected, isKept)
  return selected
}

const mayGoBy = ({ olderThanMs }: RetentionRule, { runId, status, isOnlyRecorded }: RunFacts): boolean =>
  isTerminal(status) || isSystemRun(runId) || (isOnlyRecorded === true && olderThanMs !== undefined)

/** Parents come before their children. */
function followParent(
  run: RunFacts,
  selected: Map<string, string>,
  isKept: (run: RunFacts) => boolean,
): void {
  const rule = run.parentRunId === null ? undefined : selected.get(run.parentRunId)
  if (rule !== undefined && isTerminal(run.status) && !isKept(run)) selected.set(run.runId, rule)
}

/** Memory is used by the run or the thread that it belongs to: never, while one of these is not over. */
function createLastUsed(runs: readonly RunFacts[]): (run: RunFacts) => number {
  const byScope = new Map<string, number>()
  const use = (scope: string, ms: number): void => {
    byScope.set(scope, Math.max(byScope.get(scope) ?? 0, ms))
  }
  for (const { runId, threadId, status, recordedMs, isOnlyRecorded } of runs) {
    if (isSystemRun(runId)) continue
    const ms = isTerminal(status) || isOnlyRecorded ? recordedMs : Number.POSITIVE_INFINITY
    use(`short ${runId}`, ms)
    if (threadId !== null) use(`session ${threadId}`, ms)
  }
  return ({ runId, recordedMs }) => {
    const memory = parseMemoryRunId(runId)
    if (!memory) return recordedMs
    return Math.max(recordedMs, byScope.get(`${memory.layer} ${memory.scope}`) ?? Number.NEGATIVE_INFINITY)
  }
}

function beyondLimit(
  { olderThanMs, newest, maxBytes }: RetentionRule,
  matching: readonly RunFacts[],
  { nowMs, bytes }: RetentionFacts,
  lastUsed: (run: RunFacts) => number,
): readonly RunFacts[] {
  if (olderThanMs !== undefined) return matching.filter((run) => nowMs - lastUsed(run) >= olderThanMs)
  if (newest !== undefined) return matching.slice(0, Math.max(0, matching.length - newest))
  let sum = 0
  let at = matching.length
  while (at > 0) {
    sum += bytes.get((matching[at - 1] as RunFacts).runId) ?? 0
    if (sum > (maxBytes ?? 0)) break
    at--
  }
  return matching.slice(0, at)
}
