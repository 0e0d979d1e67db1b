/** Stable codes: programs branch on these, people read the message. */
export type ErrorCode =
  | 'bad_envelope'
  | 'bad_payload'
  | 'bad_value'
  | 'bad_option'
  | 'bad_key'
  | 'bad_url'
  | 'bad_graph'
  | 'bad_write'
  | 'too_large'
  | 'conflict'
  | 'wrong_seq'
  | 'stale_epoch'
  | 'busy'
  | 'stopped'
  | 'ended'
  | 'deadline'
  | 'not_found'
  | 'pruned'
  | 'held'
  | 'erased'
  | 'unfinished'
  | 'bad_answer'
  | 'bad_signal'
  | 'too_late'
  | 'not_resumable'
  | 'bad_peer'
  | 'switched_off'
  | 'ambiguous'
  | 'broken_import'
  | 'newer_store'
  | 'older_store'
  | 'not_a_store'
  | 'store_missing'
  | 'store_unreachable'
  | 'store_refused'
  | 'store_locked'
  | 'store_full'
  | 'store_readonly'
  | 'store_corrupt'
  | 'store_failed'
  | 'closed'
  | 'unauthenticated'
  | 'forbidden'
  | 'rate_limited'
  | 'wrong_method'
  | 'wrong_media'
  | 'overloaded'

export interface ErrorFields {
  readonly [name: string]: string | number | boolean | null | undefined
}

/**
 * The one error Clew throws. `message` says what happened and to which thing, `hint` what to do now;
 * `fields` carries the same facts for programs. Nothing of a payload ever goes into any of them (P3).
 */
export class ClewError extends Error {
  override readonly name = 'ClewError'
  readonly code: ErrorCode
  readonly fields: ErrorFields
  readonly hint: string

  constructor(code: ErrorCode, message: string, hint: string, fields: ErrorFields = {}, cause?: unknown) {
    super(`${message}. ${hint}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.hint = hint
    this.fields = fields
  }

  toJSON(): { code: ErrorCode; message: string; hint: string; fields: ErrorFields } {
    return { code: this.code, message: this.message, hint: this.hint, fields: this.fields }
  }
}
