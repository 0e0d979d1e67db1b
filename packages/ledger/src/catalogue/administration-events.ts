import {
  anything,
  either,
  flag,
  integer,
  listOf,
  mapOf,
  maybe,
  maybeNull,
  nothing,
  number,
  oneOf,
  open,
  pairOf,
  text,
  variants,
} from './schema.ts'
import { count, optional, texts } from './payload-parts.ts'
import type { EventFamily } from './primitive.ts'

const score = {
  name: text,
  /** Null takes back the score that the same giver gave before. */
  value: either(either(number, text), either(flag, nothing)),
  /** Author of the score; by default the event's source. */
  by: optional.text,
  why: optional.text,
}

/**
 * A deleted part of a run. `headHash` is the hash of the event at `toSeq`, and by the chain a digest over it and all
 * events before it: `verify` looks for it. `seqs` are the events concerned, as pairs; without it, all of the range.
 */
const removed = {
  fromSeq: count,
  toSeq: count,
  headHash: optional.text,
  seqs: maybe(listOf(pairOf(count, count))),
}

/** Administrative actions. Scores and tags are recorded in their run, the others in the audit run of the workspace. */
export const ADMINISTRATION_EVENTS = {
  'system.payload_erased': [
    'system.workflow_event',
    open({
      /** Kind of target: `subject`, `run` or `event`, never which subject; `import` for payloads that arrived erased. */
      target: optional.text,
      runId: optional.text,
      seqs: maybe(listOf(count)),
      /**
       * Runs in which the action took place. Runs whose name could be that of a subject, such as those of memory, are
       * left out.
       */
      ranges: maybe(listOf(open({ runId: optional.text, ...removed }))),
      events: optional.count,
      runs: optional.count,
      /** How many runs stay because of a hold. */
      kept: optional.count,
      reason: optional.text,
      by: optional.text,
    }),
  ],
  'system.range_pruned': [
    'system.workflow_event',
    open({
      /**
       * Each with the `rule` by which it went. Where only `states` in it went, how many, and in `blank` the events that lost
       * their payloads. `deletes` where the run itself was deleted.
       */
      ranges: maybe(
        listOf(
          open({
            runId: text,
            ...removed,
            rule: optional.text,
            states: optional.count,
            blank: maybe(listOf(pairOf(count, count))),
            deletes: optional.flag,
          }),
        ),
      ),
      events: optional.count,
      by: optional.text,
      runId: optional.text,
      fromSeq: optional.count,
      toSeq: optional.count,
      headHash: optional.text,
    }),
  ],
  /** Limits of a queue (W4) from now on; what is left out or null is not limited. Recorded in the run `clew:queues`. */
  'system.queue_changed': [
    'system.workflow_event',
    open({
      queue: text,
      concurrency: maybeNull(integer(1)),
      concurrencyPerKey: maybeNull(integer(1)),
      rate: maybeNull(open({ count: integer(1), perMs: integer(1) })),
      by: optional.text,
    }),
  ],
  /** A round of housekeeping, in the run `clew:housekeeping`: what was deleted, by which policy, and what else was done. */
  'system.housekeeping_completed': [
    'system.workflow_event',
    open({
      startedAt: optional.text,
      /** Policy that was followed; absent where there is none. */
      policy: maybe(open({ source: text, by: optional.text, at: optional.text })),
      events: optional.count,
      runs: optional.count,
      /** How many runs a rule matches that a hold or another run still needs. */
      kept: optional.count,
      /** Runs without a living owner that were marked as interrupted. */
      interrupted: optional.count,
      /** Events that the search index took. */
      indexed: optional.count,
      /** Tasks that failed; the others were done all the same. */
      errors: maybe(listOf(open({ task: text, code: optional.text, message: optional.text }))),
    }),
  ],
  /** A schedule as it is from now on, in the run `clew:schedule/<id>`. It has one of `cron`, `everyMs` and `at`. */
  'system.schedule_set': [
    'system.workflow_event',
    open({
      agent: text,
      cron: optional.text,
      everyMs: optional.count,
      at: optional.text,
      timeZone: optional.text,
      input: anything,
      catchUp: maybe(oneOf('skip', 'one', 'all')),
      overlap: maybe(oneOf('skip', 'queue', 'allow')),
      queue: optional.text,
      key: optional.text,
      priority: maybe(number),
      deadlineMs: optional.amount,
      threadId: optional.text,
      tags: maybe(mapOf(text)),
      subjects: texts,
      /** Keyed digest of all of it before redaction: the same definition is not recorded again. */
      definitionDigest: optional.text,
      by: optional.text,
    }),
  ],
  'system.schedule_changed': [
    'system.workflow_event',
    open({ action: oneOf('pause', 'resume', 'remove'), by: optional.text }),
  ],
  /** An occurrence is decided: its run is submitted after this event, by whoever finds that it is not there. */
  'system.schedule_fired': ['system.workflow_event', open({ nominalAt: text, runId: text })],
  /** Occurrences that get no run, from the first to the last. */
  'system.schedule_skipped': [
    'system.workflow_event',
    /** `count` is left out if there are very many. */
    open({ reason: oneOf('late', 'overlap'), count: optional.count, fromAt: text, toAt: text }),
  ],
  'system.policy_changed': ['system.workflow_event', open({ policy: anything, by: optional.text })],
  'system.access': [
    'system.workflow_event',
    open({
      action: optional.text,
      by: optional.text,
      target: anything,
      reason: optional.text,
      /** Hold that is released. */
      holdId: optional.text,
    }),
  ],
  'system.token_created': [
    'system.workflow_event',
    open({
      tokenId: optional.text,
      name: optional.text,
      digest: optional.text,
      scopes: texts,
      workspace: optional.text,
      expiresAt: optional.text,
      by: optional.text,
    }),
  ],
  'system.token_revoked': ['system.workflow_event', open({ tokenId: optional.text, by: optional.text })],
  /** A score of a run or of one of its steps. The latest of each target, name and giver counts. */
  'system.scored': [
    'system.workflow_event',
    variants('target', {
      run: open({ target: oneOf('run'), ...score }),
      step: open({ target: oneOf('step'), stepId: text, attempt: maybe(integer(1)), ...score }),
    }),
  ],
  /** Tags of a run: first those in `unset` go, then those in `set` are added or replaced. */
  'system.tagged': [
    'system.workflow_event',
    open({ set: maybe(mapOf(text)), unset: texts, by: optional.text }),
  ],
} as const satisfies EventFamily
