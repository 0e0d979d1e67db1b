import { createIds, createProgressWriter, type Ledger, type ProgressWriter, sweepOrphans } from '@clew/ledger'
import { createLedgerPort } from './ledger-port.ts'
import type { TakenSession, TraceEvent, TracePort } from './port.ts'
import { createRemotePort } from './remote-port.ts'
import { type ForSessionOptions, toPersona } from './session-options.ts'
import { createSessionTrace, type SessionTrace } from './session-trace.ts'
import type { TracePorts } from './trace-ports.ts'
import { type StopWatch, watchStops } from './watch-stops.ts'

/** Target of sessions: a ledger of this process, or a Clew server. */
export type TraceEmitterOptions = (
  | { readonly ledger: Ledger; readonly server?: undefined }
  | {
      readonly server: string
      readonly token?: string | undefined
      /** Workspace of sessions that name none. Default `default`. */
      readonly workspace?: string | undefined
      readonly ledger?: undefined
    }
) & {
  /** Framework of the agent, for the source of its events: `ai-sdk`, `custom`, … */
  readonly runtime?: string | undefined
}

/** T7. */
const BEAT_MS = 15_000

interface EmitterPosition {
  readonly port: TracePort
  readonly writer: ProgressWriter
  readonly stops: StopWatch
}

/** Makes traces of sessions, from anything that can call functions. One for a process is enough. */
export class TraceEmitter {
  readonly #options: TraceEmitterOptions
  readonly #ports: TracePorts
  readonly #places = new Map<string, EmitterPosition>()
  readonly #nextId: () => string

  constructor(options: TraceEmitterOptions, ports: TracePorts) {
    this.#options = options
    this.#ports = ports
    this.#nextId = createIds(ports)
  }

  /** Begins a session, or goes on with one that failed or was interrupted. `busy` while another works in its stream. */
  async forSession(options: ForSessionOptions): Promise<SessionTrace> {
    const { streamId, sessionId, supersedes = null, triggerMessageId = null } = options
    const workspaceId = options.workspaceId ?? this.#workspace()
    const place = this.#placeOf(workspaceId)
    const taken = await place.port.take({ sessionId, streamId, supersedes, triggerMessageId })
    const opening = this.#opening(options, taken)
    try {
      await place.port.append(opening, taken.lease.epoch)
    } catch (error) {
      await place.port.release(taken.lease)
      throw error
    }
    const seq = (taken.found?.seq ?? 0) + opening.length
    const startId = taken.found?.startId ?? opening.at(-1)?.eventId
    return this.#hold(place, taken, { workspaceId, streamId, seq, startId })
  }

  #hold(
    { port, writer, stops }: EmitterPosition,
    { lease, found }: TakenSession,
    {
      workspaceId,
      streamId,
      seq,
      startId,
    }: {
      workspaceId: string
      streamId: string
      seq: number
      startId: string | undefined
    },
  ): SessionTrace {
    let callOff = (): void => {}
    let isOver = false
    const { trace, beat, stop } = createSessionTrace({
      port,
      writer,
      lease,
      found,
      seq,
      startId,
      workspaceId,
      streamId,
      draft: (...parts) => this.#draft(...parts),
      nextId: this.#nextId,
      onEnd: () => {
        isOver = true
        callOff()
        unwatch()
      },
    })
    const unwatch = stops.add(trace.sessionId, stop)
    const keepOn = (): void => {
      callOff = this.#ports.after(BEAT_MS, () => void renew())
    }
    const renew = async (): Promise<void> => {
      // Swept only when our own are renewed: one that is only late must not be taken for an orphan's.
      if (await beat()) await this.sweep(workspaceId).catch(() => undefined)
      if (!isOver) keepOn()
    }
    keepOn()
    return trace
  }

  /**
   * Ends the life cycle of sessions in the workspace whose owner is dead or silent, and gives their ids; also done with
   * each heartbeat. Through a server there is nothing to do: it sweeps itself.
   */
  async sweep(workspaceId: string = this.#workspace()): Promise<string[]> {
    const { ledger } = this.#options
    return ledger ? sweepOrphans(ledgerOf(ledger, workspaceId)) : []
  }

  #workspace(): string {
    const { ledger } = this.#options
    return ledger ? ledger.workspace : (this.#options.workspace ?? 'default')
  }

  #placeOf(workspaceId: string): EmitterPosition {
    const known = this.#places.get(workspaceId)
    if (known) return known
    const options = this.#options
    const port = options.ledger
      ? createLedgerPort(ledgerOf(options.ledger, workspaceId))
      : createRemotePort({ server: options.server, token: options.token, workspaceId }, this.#ports)
    const writer = createProgressWriter({
      put: (notes) => port.progress(notes),
      clear: (runId, stepId) => port.clearProgress(runId, stepId),
      now: () => this.#ports.now(),
      after: (ms, task) => void this.#ports.after(ms, task),
    })
    const place = { port, writer, stops: watchStops(port, this.#ports) }
    this.#places.set(workspaceId, place)
    return place
  }

  /** A new session starts; one that is there is taken up, and what its former owner left open is closed. */
  #opening(options: ForSessionOptions, { lease, found, triggerEventId }: TakenSession): TraceEvent[] {
    const { streamId, sessionId, triggerMessageId = null, supersedes = null, causedBy } = options
    // Without either, the code around says what led to it (L9).
    const given = typeof causedBy === 'object' ? causedBy.eventId : causedBy
    const cause = given ?? triggerEventId ?? undefined
    if (found)
      return [
        ...found.openSteps.map((step) =>
          this.#draft(
            'execution.step_interrupted',
            sessionId,
            { ...step, reason: 'taken up again' },
            undefined,
          ),
        ),
        this.#draft(
          'system.workflow_resumed',
          sessionId,
          { reason: found.status, epoch: lease.epoch },
          cause,
        ),
      ]
    const persona = toPersona(options.persona)
    return [
      this.#draft(
        'system.workflow_started',
        sessionId,
        {
          ...(persona && { agent: persona.name }),
          threadId: streamId,
          session: { streamId, persona, triggerMessageId, supersedes },
        },
        cause,
      ),
    ]
  }

  #draft(
    eventType: string,
    runId: string,
    payload: Record<string, unknown>,
    causationId: string | undefined,
  ): TraceEvent {
    return {
      ...(causationId !== undefined && { causationId }),
      eventType,
      eventId: this.#nextId(),
      timestamp: new Date(this.#ports.now()).toISOString(),
      correlationId: runId,
      source: { origin: 'agent', runtime: this.#options.runtime ?? 'custom' },
      payload,
    }
  }
}

const ledgerOf = (ledger: Ledger, workspaceId: string): Ledger =>
  workspaceId === ledger.workspace ? ledger : ledger.in(workspaceId)
