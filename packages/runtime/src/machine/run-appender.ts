import { hash } from 'node:crypto'
import {
  ClewError,
  type ClewEvent,
  createDeriver,
  type EventInput,
  type ForeignType,
  type Ledger,
  type OwnEventType,
  type Payload,
  type PayloadOf,
} from '@clew/ledger'

export const sha256 = (text: string): string => hash('sha256', text)
const SOURCE = Object.freeze({ origin: 'agent', runtime: 'clew' })

export type EventDraft = EventInput & { readonly eventId: string; readonly payload: Record<string, unknown> }

/** Payload of an event to be written: an own type has the fields of its schema. */
export type DraftPayload<T extends OwnEventType | ForeignType> = T extends OwnEventType
  ? PayloadOf<T>
  : Payload

/** Writes the events of one run under its lease. Ids are derived from what an event says, so a repeat is free (L4). */
export interface RunAppender {
  readonly runId: string
  readonly ledger: Ledger
  draft<T extends OwnEventType | ForeignType>(
    eventType: T,
    ids: readonly (string | number)[],
    causationId: string | null,
    payload: DraftPayload<T>,
  ): EventDraft
  idOf(...parts: (string | number)[]): string
  /** Writes in the order of the calls; calls `then` after the commit, `failed` with the error. */
  write(
    events: readonly EventDraft[],
    then: (stored: readonly ClewEvent[]) => void,
    failed: (error: unknown) => void,
  ): void
  /** The same as a promise. */
  send(events: readonly EventDraft[]): Promise<readonly ClewEvent[]>
}

export interface RunAppenderOptions {
  readonly ledger: Ledger
  readonly runId: string
  readonly epoch: number
  readonly onEvent?: ((event: ClewEvent) => void) | undefined
  /** Called when another process has taken over the run. */
  readonly onStale: (error: ClewError) => void
}

export function openRunAppender({ ledger, runId, epoch, onEvent, onStale }: RunAppenderOptions): RunAppender {
  const idOf = createDeriver(sha256, runId)
  const options = { epoch, keepStepIds: true }

  function write(...[events, then, failed]: Parameters<RunAppender['write']>): void {
    const committed = (stored: readonly ClewEvent[]): void => {
      try {
        if (onEvent) for (const event of stored) onEvent(event)
      } catch (error) {
        return failed(error)
      }
      then(stored)
    }
    const refused = (error: unknown): void => {
      if (error instanceof ClewError && error.code === 'stale_epoch') onStale(error)
      failed(error)
    }
    void ledger.append(events, options).then(committed, refused)
  }

  return {
    runId,
    ledger,
    idOf,
    draft: (eventType, ids, causationId, payload) => ({
      eventType,
      eventId: idOf(eventType, ...ids),
      correlationId: runId,
      causationId,
      source: SOURCE,
      payload,
    }),
    write,
    send: (events) => new Promise((resolve, reject) => write(events, resolve, reject)),
  }
}

export const UNSTORABLE: ReadonlySet<string> = new Set(['bad_value', 'bad_payload', 'too_large'])

/** The value is to blame, not the store: the step fails, the run goes on. */
export const isUnstorable = (error: unknown): error is ClewError =>
  error instanceof ClewError && UNSTORABLE.has(error.code)
