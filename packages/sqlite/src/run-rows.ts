import type { DatabaseSync } from 'node:sqlite'
import { dueMsOf, hasSameIdentity, type RunDraft, type RunSummary, type StepSkeleton } from '@clew/ledger'
import type { RunInserter } from './insert-run.ts'
import { PUT_STEP, stepValues } from './step-row.ts'

const OPEN_STEPS = 5000
/** So many events of a run may pass before its summary and steps are written. */
const MOST_BEHIND = 64
const RUNS_BEHIND = 256
/** Rows are written with every commit until so many have passed in which nobody else wrote. */
const QUIET_COMMITS = 8

export interface SqliteRun extends RunDraft {
  /** As the rows have it: what is searched for in them is never behind. */
  stored: RunSummary
  /** Up to where the rows of the run and of its steps are folded. */
  foldedSeq: number
  /** What has changed since: the steps, by `stepKeyOf`. */
  readonly steps: Map<string, StepSkeleton>
  /** All steps that the run ever had, by `stepKeyOf`, where that is known: nearly every step is new, and need not be looked for. */
  begun: Set<string> | undefined
  /** All events since can be folded from their rows alone. */
  isPlain: boolean
  /** Events were put where no trigger moves the head. */
  isHeadBehind: boolean
  /** Unknown until something was appended here. */
  lastEventId?: string
}

/** Rows of runs and steps that may be behind their events; all of it inside write transactions. */
export interface RunRows {
  /** At the end of a transaction, whatever the number of events: the heads of these runs, and the rows that are due. */
  flush(changed: ReadonlySet<SqliteRun>): void
  settle(run: SqliteRun): void
  settleAll(): void
  readonly isBehind: boolean
  /** Nobody else has written for some commits. */
  readonly isAlone: boolean
  /** A step that had not ended when its row was written. */
  openStep(run: SqliteRun, key: string): StepSkeleton | undefined
  /** The rows of the run were changed by others, or it is not remembered any longer. */
  forgetRun(run: SqliteRun): void
  forget(): void
}

export function createRunRows(db: DatabaseSync, inserter: RunInserter): RunRows {
  const sql = {
    moveHead: db.prepare('UPDATE runs SET seq = ?, hash = ?, recorded_at = ? WHERE id = ?'),
    updateRun: db.prepare('UPDATE runs SET summary = ?, folded_seq = ? WHERE id = ?'),
    // Apart, because naming an indexed column writes its index even when the value stays.
    updateStatus: db.prepare('UPDATE runs SET status = ?, due_ms = ? WHERE id = ?'),
    updateIdentity: db.prepare(
      'UPDATE runs SET thread_id = ?, agent = ?, agent_version = ?, parent_run_id = ?, started_ms = ? WHERE id = ?',
    ),
    putStep: db.prepare(PUT_STEP),
  }
  const openSteps = new Map<string, StepSkeleton>()
  const behind = new Set<SqliteRun>()
  let quietCommits = 0

  function settle(run: SqliteRun): void {
    behind.delete(run)
    const { summary, recordedAt } = run
    sql.updateRun.run(JSON.stringify(summary), run.seq, run.id)
    if (summary.status !== run.stored.status || summary.dueAt !== run.stored.dueAt)
      sql.updateStatus.run(summary.status, dueMsOf(summary, recordedAt), run.id)
    if (!hasSameIdentity(run.stored, summary)) {
      const { threadId, agent, agentVersion, parentRunId, startedAt } = summary
      sql.updateIdentity.run(threadId, agent, agentVersion, parentRunId, Date.parse(startedAt), run.id)
      inserter.addSubjects(run.id, summary.subjects)
    }
    run.stored = summary
    for (const [key, step] of run.steps) {
      sql.putStep.run(...stepValues(run.id, step))
      if (step.endedSeq === null && openSteps.size < OPEN_STEPS) openSteps.set(`${run.id} ${key}`, step)
      else openSteps.delete(`${run.id} ${key}`)
    }
    run.steps.clear()
    run.foldedSeq = run.seq
    run.isPlain = true
  }

  const isLate = (run: SqliteRun): boolean =>
    !run.isPlain ||
    run.summary.status !== run.stored.status ||
    run.summary.dueAt !== run.stored.dueAt ||
    run.summary.cost !== run.stored.cost ||
    !hasSameIdentity(run.stored, run.summary) ||
    quietCommits < QUIET_COMMITS ||
    run.seq - run.foldedSeq >= MOST_BEHIND

  return {
    flush(changed) {
      quietCommits++
      for (const run of changed) {
        if (run.isHeadBehind) sql.moveHead.run(run.seq, Buffer.from(run.hash, 'hex'), run.recordedAt, run.id)
        run.isHeadBehind = false
        if (isLate(run)) settle(run)
        else behind.add(run)
      }
      for (const run of behind) {
        if (behind.size <= RUNS_BEHIND) break
        settle(run)
      }
    },
    settle,
    settleAll() {
      for (const run of behind) settle(run)
    },
    get isBehind() {
      return behind.size > 0
    },
    get isAlone() {
      return quietCommits >= QUIET_COMMITS
    },
    openStep: (run, key) => openSteps.get(`${run.id} ${key}`),
    forgetRun(run) {
      behind.delete(run)
      for (const name of openSteps.keys()) if (name.startsWith(`${run.id} `)) openSteps.delete(name)
    },
    forget() {
      openSteps.clear()
      behind.clear()
      quietCommits = 0
    },
  }
}
