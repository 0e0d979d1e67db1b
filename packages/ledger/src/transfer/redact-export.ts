import { inputDigest } from '../hash/canonical.ts'
import { chainHash, GENESIS, payloadHash } from '../hash/chain.ts'
import { isObject, type JsonObject, type JsonValue, setKey } from '../json.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Redactor } from '../redact/redact.ts'
import { recut, redactBody } from '../redact/redact-body.ts'
import { redactStepId } from '../event/step-id.ts'
import type { StoredEvent, StoredRun } from '../store/store.ts'
import { merkleRoot } from '../hash/tree.ts'

interface RedactParts {
  readonly sha256: Ports['sha256']
  readonly redactor: Redactor
  readonly reader: PayloadReader
}

/**
 * Takes out of stored events what today's rules would not store, on their way into an export. A changed
 * payload has another hash, so from the first one on the run has a chain of its own, which verifies; what
 * nothing was taken out of keeps its hashes. Events come in the order of an export: those of a run by seq, a
 * fork after its source.
 */
export function createExportRedactor(
  { sha256, redactor, reader }: RedactParts,
  runs: readonly Pick<StoredRun, 'summary' | 'forkOf'>[],
): { event(stored: StoredEvent): Promise<StoredEvent>; passSeal(runId: string, headHash: string): void } {
  const forks = new Map(runs.flatMap(({ summary, forkOf }) => (forkOf ? [[summary.runId, forkOf]] : [])))
  const shared = new Map<string, string>()
  for (const { runId, seq } of forks.values()) shared.set(`${seq} ${runId}`, '')
  const heads = new Map<string, string>()

  function previousOf({ correlationId, seq }: StoredEvent): string {
    const fork = forks.get(correlationId)
    if (fork && seq === fork.seq + 1 && !heads.has(correlationId))
      return shared.get(`${fork.seq} ${fork.runId}`) as string
    return seq === 1 ? GENESIS : (heads.get(correlationId) as string)
  }

  async function event(stored: StoredEvent): Promise<StoredEvent> {
    const payload = stored.body === null ? undefined : ((await reader.toJson(stored)) as JsonObject)
    const clean = payload && redactPayload(sha256, redactor, payload)
    const changed: Partial<StoredEvent> =
      clean === payload || clean === undefined ? {} : reseal(sha256, stored, clean)
    const own = { ...stored, ...changed, correlationId: redactor.text(stored.correlationId) }
    const hash = chainHash(sha256, previousOf(stored), own, stored)
    const place = `${stored.seq} ${stored.correlationId}`
    heads.set(stored.correlationId, hash)
    if (shared.has(place)) shared.set(place, hash)
    return { ...own, hash }
  }
  // Behind a seal the chain goes on from what it names.
  return { event, passSeal: (runId, headHash) => void heads.set(runId, headHash) }
}

/** The salt is derived from the old one, which stays secret, so that the same run always gives the same export. */
function reseal(
  sha256: Ports['sha256'],
  stored: StoredEvent,
  payload: JsonObject,
): Pick<StoredEvent, 'body' | 'salt' | 'payloadHash'> {
  const body = JSON.stringify(payload)
  const salt = sha256(`redacted ${stored.salt ?? ''}`).slice(0, 32)
  return { body, salt, payloadHash: payloadHash(sha256, salt, merkleRoot(sha256, payload, body)) }
}

/**
 * Fields that name steps. They are redacted by their parts: `read@notes.md` is no address,
 * `send@ann%40example.org` has one.
 */
const STEP_IDS: ReadonlySet<string> = new Set(['stepId', 'parentStepId', 'atStepId'])

/** The same object when there is nothing to take out. */
function redactPayload(sha256: Ports['sha256'], redactor: Redactor, payload: JsonObject): JsonObject {
  const blank = Object.keys(payload).some((key) => STEP_IDS.has(key) || key === 'clock')
    ? mapFields(payload, (key, value) => (isStepId(key, value) ? '' : key === 'clock' ? [] : value))
    : payload
  // First: of a secret that lies across two pieces, one may look like a whole.
  const clean = redactor.value(redactChunks(redactor, blank)).value as JsonObject
  const cleanId = (id: string): string => redactStepId(id, (part) => redactor.text(part))
  const whole = mapFields(clean, (key, value) => {
    const given = payload[key]
    if (key === 'clock' && Array.isArray(given)) return given.map((reading) => cleanReading(reading, cleanId))
    return isStepId(key, given) ? cleanId(given) : value
  })
  const hasSameIds = Object.keys(payload).every((key) => !STEP_IDS.has(key) || whole[key] === payload[key])
  if (clean === blank && hasSameIds) return payload
  const { input } = whole
  if (input === undefined || input === payload['input'] || !isDigestOf(sha256, payload)) return whole
  return { ...whole, inputDigest: inputDigest(sha256, input) }
}

/**
 * The body of a response is recorded in the pieces in which it came, and what is to be taken out may lie
 * across them.
 */
function redactChunks(redactor: Redactor, payload: JsonObject): JsonObject {
  const { output } = payload
  if (!isObject(output) || !Array.isArray(output['chunks']) || output['encoding'] !== undefined)
    return payload
  const { chunks } = output
  const texts = chunks.flatMap((chunk) =>
    Array.isArray(chunk) && typeof chunk[1] === 'string' ? [chunk[1]] : [],
  )
  if (texts.length !== chunks.length) return payload
  const text = texts.join('')
  const changes = redactBody(text, typeOf(text), redactor)
  if (changes.length === 0) return payload
  const clean = recut(texts, changes)
  const pieces = chunks.map((chunk, at) => [(chunk as JsonValue[])[0] as JsonValue, clean[at] as string])
  return { ...payload, output: { ...output, chunks: pieces } }
}

/** As the text looks; what its server called it stands with another event. */
function typeOf(text: string): string {
  if (/^(?:data:|event:|id:|:)/m.test(text) || /^[[{].*[\]}]\r?\n[[{]/.test(text)) return 'text/event-stream'
  return /^\s*[[{]/.test(text) ? 'application/json' : 'text/plain'
}

/** True if the digest is that of the stored input. Some steps, such as recorded requests, leave parts of the input out. */
const isDigestOf = (sha256: Ports['sha256'], payload: JsonObject): boolean =>
  payload['inputDigest'] === inputDigest(sha256, payload['input'] as JsonValue)

const isStepId = (key: string, value: JsonValue | undefined): value is string =>
  STEP_IDS.has(key) && typeof value === 'string'

/** A reading of the clock, with the step that took it. */
function cleanReading(reading: JsonValue, cleanId: (id: string) => string): JsonValue {
  return Array.isArray(reading)
    ? reading.map((part) => (typeof part === 'string' ? cleanId(part) : part))
    : reading
}

function mapFields(object: JsonObject, map: (key: string, value: JsonValue) => JsonValue): JsonObject {
  const copy: JsonObject = {}
  for (const [key, value] of Object.entries(object)) setKey(copy, key, map(key, value))
  return copy
}
