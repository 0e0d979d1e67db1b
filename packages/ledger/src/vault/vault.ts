import { ClewError } from '../errors.ts'
import { isObject, type JsonValue } from '../json.ts'
import { fingerprintOf, placeholdersIn } from '../redact/placeholder.ts'
import { type OriginalOf, restoreSecrets } from './restore-secrets.ts'
import type { StoreCore, StoredEvent } from '../store/store.ts'
import { createOriginals } from './originals.ts'
import { createConcealment } from './conceal.ts'
import type { VaultData, VaultedEvent, VaultRow } from './vault-rows.ts'

/** Why a row cannot be read: its key is not here, or the key or the row is not the right one. */
export type VaultProblem = 'no key' | 'wrong key'

/**
 * Encryption with the keys of a vault, from outside the pure ledger. `context` is authenticated with the row: it names
 * the event, so a row that was moved to another event does not decrypt.
 */
export interface VaultCipher {
  /** Id of the key for new rows. */
  readonly keyId: string
  /** Encrypted bytes as hex. */
  encrypt(text: string, context: string): string
  decrypt(
    row: VaultData,
    context: string,
  ): Promise<{ readonly text: string } | { readonly problem: VaultProblem }>
  /** Begins a rotation: makes or asks for a new current key, where keys are not given as they are. */
  renew(): Promise<void>
}

/** Restores the payload of one of the events that it was opened for. */
export type RestorePayload = (stored: StoredEvent, payload: JsonValue) => JsonValue

/** The vault of one workspace. Originals stay in memory, and in rows they are encrypted. */
export interface Vault {
  /** Called with every secret that redaction removes, with its fingerprint. */
  remember(fingerprint: string, original: string): void
  /** Redacts one payload; its originals are kept at least until `rowOf` is asked. */
  during<T>(redact: () => T): T
  /** The row of an event, from the JSON text of its redacted payload; null without a known original. */
  rowOf(text: string, event: Pick<VaultedEvent, 'runId' | 'eventId' | 'payloadHash'>): VaultData | null
  /** The value as a report may show it: without texts that hold originals, or parts of them, that were opened here (P3). */
  conceal<Value>(value: Value): Value
  /** Reads and decrypts the rows of these events; `bad_key` when one cannot be read. */
  open(events: readonly StoredEvent[]): Promise<RestorePayload>
}

export interface VaultParts {
  readonly store: Pick<StoreCore, 'readVault'>
  readonly cipher: VaultCipher
  readonly workspace: string
}

export const vaultContext = ({
  workspace,
  runId,
  eventId,
  payloadHash,
}: Pick<VaultedEvent, 'workspace' | 'runId' | 'eventId' | 'payloadHash'>): string =>
  JSON.stringify(['clew vault', workspace, runId, eventId, payloadHash])

export function createVault({ store, cipher, workspace }: VaultParts): Vault {
  const originals = createOriginals()
  const concealment = createConcealment()

  async function read(row: VaultRow, stored: StoredEvent): Promise<ReadonlyMap<string, string>> {
    const { correlationId: runId, eventId, payloadHash, seq } = stored
    const opened = await cipher.decrypt(row, vaultContext({ workspace, runId, eventId, payloadHash }))
    if ('problem' in opened) throw badKey(opened.problem, row.keyId, { runId, seq })
    const known = new Map(Object.entries(JSON.parse(opened.text) as Record<string, string>))
    for (const original of known.values()) concealment.add(original)
    return known
  }

  return {
    conceal: concealment.conceal,
    remember: originals.remember,
    during: originals.during,
    rowOf(text, event) {
      const known = new Map<string, string>()
      // Placeholders have no character that JSON escapes, so they stand in the text as they are, keys included.
      for (const [placeholder] of placeholdersIn(text)) {
        const original = originals.find(fingerprintOf(placeholder))
        if (original !== undefined) known.set(placeholder, original)
      }
      if (known.size === 0) return null
      const data = cipher.encrypt(
        JSON.stringify(Object.fromEntries(known)),
        vaultContext({ workspace, ...event }),
      )
      return { keyId: cipher.keyId, data }
    },
    async open(events) {
      const redacted = events.filter(({ body }) => mayHoldPlaceholder(body))
      const opened = new Map<number, ReadonlyMap<string, string>>()
      if (redacted.length > 0) {
        const byPosition = new Map(redacted.map((event) => [event.position, event]))
        for (const row of await store.readVault({ positions: [...byPosition.keys()] }))
          opened.set(row.position, await read(row, byPosition.get(row.position) as StoredEvent))
      }
      return ({ position }, payload) => {
        const known = opened.get(position)
        return known ? restorePayload(payload, (placeholder) => known.get(placeholder)) : payload
      }
    },
  }
}

/** Errors stay as they are: a live run gives code their redacted message, too. */
function restorePayload(payload: JsonValue, originalOf: OriginalOf): JsonValue {
  const restored = restoreSecrets(payload, originalOf)
  return isObject(payload) && isObject(restored) && payload['error'] !== undefined
    ? { ...restored, error: payload['error'] }
    : restored
}

/** The parts of a large payload are stored elsewhere, so its body does not show them. */
const mayHoldPlaceholder = (body: string | null): boolean =>
  body !== null && (!body.startsWith('{') || body.includes('[redacted:'))

export function badKey(
  problem: VaultProblem,
  keyId: string,
  { runId, seq }: { readonly runId: string; readonly seq: number },
): ClewError {
  const row = `The vault row of event ${seq} of run ${runId}`
  return problem === 'no key'
    ? new ClewError(
        'bad_key',
        `${row} was encrypted with key ${keyId}, which this process does not have`,
        'Open the ledger with that key too (vault.older, or the function that gives keys); nothing was changed, and without the vault the event can be read with its placeholders.',
        { keyId, runId, seq },
      )
    : new ClewError(
        'bad_key',
        `${row} does not decrypt with key ${keyId}: the key is another one, or the row was changed or moved`,
        'Open the ledger with the right key, or see `clew verify`; nothing was changed, and without the vault the event can be read with its placeholders.',
        { keyId, runId, seq },
      )
}
