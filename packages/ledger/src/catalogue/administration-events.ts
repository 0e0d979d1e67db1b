import { anything, listOf, maybe, open, text } from '../schema.ts'
import { count, optional, texts } from './payload-parts.ts'
import type { EventFamily } from './primitive.ts'

/** What people did with the record itself; it stands in the book of the workspace. */
export const ADMINISTRATION_EVENTS = {
  'system.payload_erased': [
    'system.workflow_event',
    open({
      /** What was named: `subject`, `run` or `event`; never which subject. */
      target: optional.text,
      runId: optional.text,
      seqs: maybe(listOf(count)),
      /** Where, in runs: books are not named. */
      ranges: maybe(listOf(open({ runId: text, fromSeq: count, toSeq: count }))),
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
      /** Each with `runId`, `fromSeq`, `toSeq` and the `rule` by which it went; where only states in it went, how many. */
      ranges: maybe(
        listOf(
          open({
            runId: text,
            fromSeq: count,
            toSeq: count,
            headHash: optional.text,
            rule: optional.text,
            states: optional.count,
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
  'system.policy_changed': ['system.workflow_event', open({ policy: anything, by: optional.text })],
  'system.access': [
    'system.workflow_event',
    open({
      action: optional.text,
      by: optional.text,
      target: anything,
      reason: optional.text,
      /** Of a hold that is released. */
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
} as const satisfies EventFamily
