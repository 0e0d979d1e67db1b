import { isRunId, MAX_RUN_ID_CHARS } from '@clew/ledger'
import { sha256 } from '../machine/run-appender.ts'

const DIGEST_CHARS = 32

/**
 * The id of a child run: its parent's and where it stands below. What is no run id, because it is too long (deep nesting, a URL
 * as key) or holds a control character, ends in a digest of the whole instead. A recorded id always wins over this one.
 */
export function childRunIdOf(parentRunId: string, below: string): string {
  const id = `${parentRunId}/${below}`
  if (isRunId(id)) return id
  const room = MAX_RUN_ID_CHARS - DIGEST_CHARS - 1
  const head = id.slice(0, room).toWellFormed()
  const readable = isRunId(head) ? head : `${parentRunId.slice(0, room - 1).toWellFormed()}/`
  return `${readable}~${sha256(id).slice(0, DIGEST_CHARS)}`
}
