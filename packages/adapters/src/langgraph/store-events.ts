import { hash } from 'node:crypto'
import {
  ClewError,
  createDeriver,
  type EventInput,
  findSecrets,
  type Ledger,
  type Payload,
} from '@clew/ledger'
import { toPlain } from './store-copy.ts'
import type { StoredItem, StoreItems } from './store-items.ts'
import { formatNamespace } from './store-namespace.ts'
import type { TimedPut } from './store-operations.ts'
import { assertNoWholeSecret, type SecretsRule } from './whole-secrets.ts'

export const MINUTE_MS = 60_000
const LAYER = 'long-horizon'
const SOURCE = { origin: 'agent', runtime: 'langgraph' } as const

export type Change =
  | { readonly type: 'put'; readonly op: TimedPut }
  | { readonly type: 'renew' | 'expire'; readonly item: StoredItem }

/** The events that changes of a store are written as. */
export interface StoreEvents {
  /** The run is no work in progress: it is complete at any time, and grows. */
  begin(): EventInput[]
  of(change: Change): EventInput
  checkpoint(payload: Payload): EventInput
}

export interface WriteRules {
  readonly defaultTtl: number | undefined
  readonly secrets: SecretsRule
}

export function createStoreEvents(
  ledger: Ledger,
  runId: string,
  items: StoreItems,
  { defaultTtl, secrets }: WriteRules,
): StoreEvents {
  const derive = createDeriver((text) => hash('sha256', text), runId)
  const draft = (eventType: string, payload: Payload): EventInput => ({
    eventType,
    correlationId: runId,
    source: SOURCE,
    payload,
  })
  const inFuture = (ms: number): string => new Date(Date.now() + ms).toISOString()

  /**
   * The id names the version that this one follows, so a put whose answer was lost is free when it is tried again, and
   * one that says the same on purpose is written.
   */
  function ofPut({ namespace, key, value, index, ttl }: TimedPut): EventInput {
    const named = { layer: LAYER, namespace: formatNamespace(namespace), key }
    const before = items.find(namespace, key)?.seq ?? 0
    if (value === null)
      return {
        ...draft('execution.memory_forgotten', named),
        eventId: derive('forgotten', named.namespace, key, before),
      }
    const digest = ledger.keyedDigest(value)
    const minutes = ttl ?? defaultTtl
    const life =
      minutes === undefined ? {} : { ttlMs: minutes * MINUTE_MS, expiresAt: inFuture(minutes * MINUTE_MS) }
    const payload = { ...named, value, ...(index !== undefined && { index }), ...life }
    assertExactName(named)
    if (secrets === 'refuse' && !ledger.hasVault) assertNoWholeSecret(ledger.redactor, { value }, 'ClewStore')
    const rest = JSON.stringify([digest, index ?? null, life])
    return {
      ...draft('execution.memory_written', payload),
      eventId: derive('written', named.namespace, key, before, rest),
    }
  }

  /** An item is found by its name, so a name is never stored redacted (P2). */
  function assertExactName(named: Payload): void {
    const [secret] = findSecrets(ledger.redactor, toPlain(named))
    if (!secret) return
    throw new ClewError(
      'bad_value',
      `The name of the item holds a secret (${secret.kind}) at ${secret.path}, which redaction would take out`,
      'Name the item otherwise. Nothing was written.',
      { path: secret.path, kind: secret.kind },
    )
  }

  return {
    begin: () =>
      [
        draft('system.workflow_started', { agent: 'store', threadId: runId }),
        draft('system.workflow_completed', {}),
      ].map((event) => ({ ...event, causationId: null, eventId: derive(event.eventType) })),
    of(change) {
      if (change.type === 'put') return ofPut(change.op)
      const { labels, key, seq, ttlMs } = change.item
      const named = { layer: LAYER, namespace: formatNamespace(labels), key }
      if (change.type === 'expire')
        return {
          ...draft('execution.memory_forgotten', { ...named, reason: 'expired', writtenSeq: seq }),
          eventId: derive('expired', named.namespace, key, seq),
          causationId: null,
        }
      const expiresAt = inFuture(ttlMs ?? 0)
      return {
        ...draft('execution.memory_written', { ...named, renewed: true, expiresAt }),
        eventId: derive('renewed', named.namespace, key, seq, expiresAt),
      }
    },
    checkpoint: (payload) => ({ ...draft('execution.checkpoint', payload), causationId: null }),
  }
}
