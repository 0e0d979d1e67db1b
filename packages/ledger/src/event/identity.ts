import { canonicalText } from '../hash/canonical.ts'
import { isObject, type JsonObject, type JsonValue } from '../json.ts'
import type { Ports } from '../ports.ts'
import type { Redactor } from '../redact/redact.ts'

/** How a name stands in the record. */
export interface Identity {
  /** Form that new events record: the given name if redaction leaves it unchanged, else its `id-` form. */
  readonly stored: string
  /** Forms that stored events may have under any rules: the given name and its `id-` form. */
  readonly names: readonly string[]
}

/**
 * Names that are found again whatever the redaction rules are. A placeholder would not do: it changes with the kind that a
 * rule has, and appears and goes with the rule. The `id-` form depends on the name and the ledger's secret alone.
 */
export interface Identities {
  /** Keyed digest of a value as it was given, before redaction. */
  keyedDigest(value: JsonValue): string
  identity(name: string): Identity
  /** Whether two recorded names stand for the same, in whichever form. */
  isSame(a: string, b: string): boolean
  /** The payload with the `id-` form where redaction changed a name by which something is found again. */
  keepNames(
    eventType: string,
    given: JsonObject,
    clean: JsonObject,
    options?: { readonly keepStepIds?: boolean | undefined },
  ): JsonObject
}

const ID_FORM = /^id-[0-9a-f]{20}$/
const isIdForm = (name: string): boolean => ID_FORM.test(name)

/** Fields of a payload, and of an object in it, that hold names. */
const NAMES: readonly string[] = [
  'threadId',
  'subject',
  'subjects',
  'streamId',
  'parentStreamId',
  'threadStreamId',
  'messageId',
  'parentMessageId',
]
/**
 * Fields that are stored as given. A run id stands in envelopes as it is, so a placeholder here would hide nothing and lose the
 * link; the name of an agent is part of the code, and a run is resumed by it.
 */
const KEPT: readonly string[] = ['runId', 'parentRunId', 'childRunId', 'sourceRunId', 'agent', 'sourceAgent']
const MEMORY_NAMES: readonly string[] = ['namespace', 'key', 'tags']
/** In `clock` each reading has the step that took it. */
const STEP_IDS: readonly string[] = ['stepId', 'parentStepId', 'atStepId', 'clock']
/** Objects in a payload that hold names: what a session answers in, and what a legal hold covers. */
const NAMING: readonly string[] = ['session', 'target']

export function createIdentities(
  sha256: Ports['sha256'],
  secret: string,
  redactor: Pick<Redactor, 'text'>,
): Identities {
  // The secret stands at both ends, so a digest of one text says nothing about a longer one.
  const keyedDigest = (value: JsonValue): string => sha256(`${secret}\n${canonicalText(value)}\n${secret}`)
  const idOf = (name: string): string => (isIdForm(name) ? name : `id-${keyedDigest(name).slice(0, 20)}`)

  function keepFields(fields: readonly string[], given: JsonObject, clean: JsonObject): JsonObject {
    let kept = clean
    for (const field of fields) {
      const [was, now] = [given[field], clean[field]]
      if (was === undefined || was === now) continue
      const name = keepName(field, was, now)
      if (name !== now) kept = { ...kept, [field]: name }
    }
    return kept
  }

  function keepName(field: string, given: JsonValue, clean: JsonValue | undefined): JsonValue {
    if (typeof given === 'string' && field === 'namespace') return keepNamespace(given)
    if (typeof given === 'string') return given === clean ? given : idOf(given)
    if (!Array.isArray(given) || !Array.isArray(clean)) return clean ?? given
    return given.map((item, at) => keepName('', item, clean[at]))
  }

  /** Replaces the parts one by one, so that nested names stay below their namespace; the whole name if no single part is a secret. */
  function keepNamespace(namespace: string): string {
    const parts = namespace.split('/').map((part) => identity(part).stored)
    const kept = parts.join('/')
    return identity(kept).stored === kept && kept !== namespace ? kept : idOf(namespace)
  }

  function identity(name: string): Identity {
    if (isIdForm(name)) return { stored: name, names: [name] }
    const isKept = redactor.text(name) === name
    return {
      stored: isKept ? name : idOf(name),
      // Most are never looked for, and a digest costs as much as the rest.
      get names() {
        return [name, idOf(name)]
      },
    }
  }

  return {
    keyedDigest,
    identity,
    isSame: (a, b) => a === b || idOf(a) === idOf(b),
    keepNames(eventType, given, clean, { keepStepIds = false } = {}) {
      if (clean === given) return clean
      const isMemory = eventType.startsWith('execution.memory_')
      let kept = keepFields(isMemory ? [...NAMES, ...MEMORY_NAMES] : NAMES, given, clean)
      if (!keepStepIds) kept = keepFields(STEP_IDS, given, kept)
      for (const field of keepStepIds ? [...KEPT, ...STEP_IDS] : KEPT)
        if (given[field] !== undefined && given[field] !== kept[field])
          kept = { ...kept, [field]: given[field] }
      for (const field of NAMING) {
        const [was, now] = [given[field], clean[field]]
        if (was === now || !isObject(was) || !isObject(now)) continue
        kept = { ...kept, [field]: keepFields(NAMES, was, now) }
      }
      return kept
    },
  }
}
