import { type Price, type PricedPayload, priceValues } from '../billing/cost.ts'
import { assertPayload } from '../catalogue/catalogue.ts'
import { payloadHash } from '../hash/chain.ts'
import type { Codecs } from '../event/codecs.ts'
import type { CheckedEnvelope } from '../event/envelope.ts'
import { ClewError } from '../errors.ts'
import { createIds } from '../event/ids.ts'
import { isoText } from '../event/iso-text.ts'
import type { Identities } from '../event/identity.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { Ports } from '../ports.ts'
import type { Redactor } from '../redact/redact.ts'
import type { PreparedEvent, ImportedFields } from '../store/change.ts'
import { createTextMemo } from '../hash/text-memo.ts'
import { INLINE, LEAF, toTree, type TreeNode } from '../hash/tree.ts'
import type { Vault } from '../vault/vault.ts'

const MAX_PAYLOAD_CHARS = 64 * 1024 * 1024

export interface Preparer {
  /** The one way in: checked, redacted, hashed, encoded once (P1). */
  prepare(checked: CheckedEnvelope, options?: PrepareOptions): PreparedEvent
  /**
   * Copies the event as it is at the call: the caller may change the payload, and the current cause may be another,
   * before it is prepared.
   */
  freeze(checked: CheckedEnvelope): CheckedEnvelope
  /** The same for an event that brings its place along and must keep its hash. */
  prepareSealed(checked: CheckedEnvelope, sealed: ImportedFields, salt: string): PreparedEvent
  /** The same for one whose payload was erased: its hash is all that is left of it. */
  prepareErased(checked: CheckedEnvelope, sealed: ImportedFields, erasedHash: string): PreparedEvent
}

export interface PrepareOptions {
  readonly keepStepIds?: boolean | undefined
}

export interface PreparerOptions {
  readonly ports: Ports
  readonly codecs: Codecs
  readonly redactor: Redactor
  readonly identities: Identities
  /** Secret of this ledger, from outside its store. */
  readonly macKey: string
  /** Prices a model call; the price is stored on the event that records its usage (V7). */
  readonly price?: Price | undefined
  readonly vault?: Vault | undefined
}

export function createPreparer({
  ports,
  codecs,
  redactor,
  identities,
  macKey,
  price,
  vault,
}: PreparerOptions): Preparer {
  const { sha256 } = ports
  const nextId = createIds(ports)
  const leaves = createTextMemo<TreeNode>()
  let salts = ''
  let saltAt = 0

  const nowText = (): string => isoText(ports.now())

  function nextSalt(): string {
    if (saltAt === salts.length) {
      salts = ports.randomHex(8192)
      saltAt = 0
    }
    saltAt += 32
    return salts.slice(saltAt - 32, saltAt)
  }

  function encode(checked: CheckedEnvelope): { given: JsonObject; text: string } {
    const given = (
      checked.isJson ? codecs.accept(checked.payload) : codecs.encode(checked.payload)
    ) as JsonObject
    const text = JSON.stringify(given)
    if (text.length > MAX_PAYLOAD_CHARS)
      throw new ClewError(
        'too_large',
        `The payload of an ${checked.eventType} event has ${text.length} characters, more than ${MAX_PAYLOAD_CHARS}`,
        'Store the large part elsewhere and record where it is; nothing was written.',
        { eventType: checked.eventType, size: text.length, most: MAX_PAYLOAD_CHARS },
      )
    return { given, text }
  }

  function root(value: JsonValue, text: string): { root: string; tree: PreparedEvent['tree'] } {
    if (text.length <= LEAF) return { root: text, tree: undefined }
    const tree = toTree(sha256, value, leaves) as TreeNode
    return { root: tree.hash, tree: text.length > INLINE ? tree : undefined }
  }

  /** The key stands at both ends, so a digest of one content says nothing about a longer one. */
  function contentMac(checked: CheckedEnvelope, causationId: string | null, contentRoot: string): string {
    const { eventType, source } = checked
    const content = `${eventType}\n${source.origin}\n${source.runtime}\n${causationId ?? ''}\n${contentRoot}`
    return sha256(`${macKey}\n${content}\n${macKey}`).slice(0, 32)
  }

  function redact(eventType: string, priced: PricedPayload, options: PrepareOptions): PricedPayload {
    const find = (): JsonValue => redactor.value(priced.payload).value
    const clean = (vault ? vault.during(find) : find()) as JsonObject
    if (clean === priced.payload) return priced
    const payload = identities.keepNames(eventType, priced.payload, clean, options)
    const text = JSON.stringify(payload)
    // Redaction may find a name in its `id-` form, which stays as it is.
    return text === priced.text ? priced : { payload, text }
  }

  const causeOf = ({ causationId }: CheckedEnvelope): string | null =>
    causationId === undefined ? (ports.context.current() ?? null) : causationId

  function finish(
    checked: CheckedEnvelope,
    given: JsonObject,
    givenText: string,
    salt: string,
    priced: PricedPayload = { payload: given, text: givenText },
    options: PrepareOptions = {},
  ): Omit<PreparedEvent, 'sealed'> {
    const { payload, text } = redact(checked.eventType, priced, options)
    const hashed = root(payload, text)
    const causationId = causeOf(checked)
    const eventId = checked.eventId ?? nextId()
    const hash = payloadHash(sha256, salt, hashed.root)
    let own: PreparedEvent['given'] = null
    if (checked.eventId !== undefined) {
      const givenRoot = payload === given ? hashed.root : root(given, givenText).root
      own = { root: givenRoot, mac: () => contentMac(checked, causationId, givenRoot) }
    }
    return {
      eventId,
      fresh: checked.eventId === undefined,
      eventType: checked.eventType,
      timestamp: checked.timestamp ?? nowText(),
      origin: checked.source.origin,
      runtime: checked.source.runtime,
      correlationId: checked.correlationId,
      causationId,
      payload,
      text,
      tree: hashed.tree,
      salt,
      payloadHash: hash,
      mac: own && payload !== given ? own.mac() : null,
      given: own,
      vault: vault?.rowOf(text, { runId: checked.correlationId, eventId, payloadHash: hash }) ?? null,
    }
  }

  return {
    prepare(checked, options) {
      const { given, text } = encode(checked)
      assertPayload(checked.eventType, given)
      // Sameness is judged by what was sent (L4), so a retry after a change of prices is still the same event.
      const priced =
        given['usage'] === undefined
          ? undefined
          : priceValues(given, text, checked.timestamp ?? nowText(), price)
      return finish(checked, given, text, nextSalt(), priced, options)
    },
    freeze: (checked) => ({
      ...checked,
      payload: JSON.parse(encode(checked).text) as JsonObject,
      isJson: true,
      timestamp: checked.timestamp ?? nowText(),
      causationId: causeOf(checked),
    }),
    prepareSealed(checked, sealed, salt) {
      const { given, text } = encode(checked)
      assertPayload(checked.eventType, given)
      const prepared = finish(checked, given, text, salt)
      if (prepared.payload !== given)
        throw new ClewError(
          'broken_import',
          `Event ${sealed.seq} of run ${checked.correlationId} holds a secret that this ledger's redaction removes, so its hash cannot stay`,
          'Import with rehash (clew import --rehash) to store it redacted under new hashes; nothing of this batch was written.',
          { runId: checked.correlationId, seq: sealed.seq },
        )
      // An import brings no originals along, whatever this process remembers.
      return { ...prepared, vault: null, sealed }
    },
    prepareErased(checked, sealed, erasedHash) {
      const prepared = finish(checked, {}, '{}', '')
      return {
        ...prepared,
        payload: null,
        text: '',
        payloadHash: erasedHash,
        mac: null,
        given: null,
        vault: null,
        sealed,
      }
    },
  }
}
