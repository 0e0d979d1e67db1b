import {
  checkpointOf,
  type ClewEvent,
  type Codecs,
  createCodecs,
  createStateBuilder,
  type EventInput,
  isOwn,
  type JsonValue,
  type RunState,
  type StateBuilder,
} from '@clew/ledger'
import { checkpointPayload } from '../engine/graph-program.ts'
import { parentIdIn } from './read-checkpoints.ts'

const codecs: Codecs = createCodecs()
export const toJson = (value: unknown): JsonValue => codecs.encode(value)
export const fromJson = (value: unknown): unknown => codecs.decode(value as JsonValue)

/** Checkpoint fields that are not part of the state. */
const STANDING = ['tasks', 'joins', 'passed', 'after'] as const

/** A run's last checkpoint and the events after it: enough to resume the run in another process. */
export interface RunDump {
  readonly runId: string
  /** Its first event. */
  readonly started: EventDump
  /** Absent where nothing but events is known, as of functions. */
  readonly base?: BaseDump
  /** Events after the checkpoint. */
  readonly events: readonly EventDump[]
  /** Epoch of the last lease of the run; the next one must be higher. */
  readonly epoch: number
}

export type EventDump = Pick<
  ClewEvent,
  'eventType' | 'eventId' | 'timestamp' | 'source' | 'causationId' | 'payload'
>

export interface BaseDump {
  readonly checkpointId: string
  readonly parentId: string | null
  readonly createdAt: string
  readonly superstep: number
  readonly next: readonly string[]
  readonly state: Readonly<Record<string, unknown>>
  readonly versions: Readonly<Record<string, number>>
  readonly standing: Readonly<Record<string, unknown>>
}

/** Follows the events of one run and can say at any time what it takes to go on from there. */
export interface RunFollower {
  readonly runId: string
  /** The last one; undefined before the first. */
  readonly checkpointId: string | undefined
  apply(event: ClewEvent, base?: { readonly state: RunState | null; readonly parentId: string | null }): void
  dump(): RunDump
}

export function followRun(started: ClewEvent): RunFollower {
  const runId = started.correlationId
  let builder: StateBuilder | undefined
  let base: BaseDump | undefined
  let events: ClewEvent[] = []
  let epoch = 1

  return {
    runId,
    get checkpointId() {
      return base?.checkpointId
    },
    apply(event, from) {
      if (event.eventId === started.eventId) return
      if (isOwn(event, 'system.workflow_resumed')) epoch = Math.max(epoch, event.payload.epoch ?? 1)
      const checkpoint = checkpointOf(event)
      if (checkpoint || builder || event.eventType === 'execution.step_completed') {
        builder ??= createStateBuilder(from?.state ?? null)
        builder.apply(event)
      }
      if (!checkpoint) {
        events.push(event)
        return
      }
      const folded = (builder as StateBuilder).view() as RunState
      const fields = checkpointPayload(event) ?? {}
      base = {
        checkpointId: checkpoint.id,
        parentId: parentIdIn(event) ?? base?.checkpointId ?? from?.parentId ?? null,
        createdAt: checkpoint.createdAt,
        superstep: folded.superstep,
        next: folded.next,
        state: folded.state,
        versions: folded.versions,
        standing: Object.fromEntries(
          STANDING.filter((key) => fields[key] !== undefined).map((key) => [key, fields[key]]),
        ),
      }
      events = []
    },
    dump: () => ({
      runId,
      started: dumpEvent(started),
      ...(base && { base }),
      events: events.map(dumpEvent),
      epoch,
    }),
  }
}

const dumpEvent = ({
  eventType,
  eventId,
  timestamp,
  source,
  causationId,
  payload,
}: ClewEvent): EventDump => ({
  eventType,
  eventId,
  timestamp,
  source,
  causationId,
  payload,
})

/** The events that make the run again in an empty ledger. */
export function eventsOfDump(
  { runId, started, base, events }: RunDump,
  eventIdOf: (checkpointId: string) => string,
): EventInput[] {
  // `previous` is a position in another ledger; `parentId` is enough here.
  const { previous: _elsewhere, ...payload } = started.payload
  const own = ({ eventId, ...event }: EventDump): EventInput => ({
    ...event,
    ...(eventId !== '' && { eventId }),
    correlationId: runId,
  })
  const checkpoint: EventInput[] = base
    ? [
        {
          eventType: 'execution.checkpoint',
          eventId: eventIdOf(base.checkpointId),
          correlationId: runId,
          causationId: started.eventId === '' ? null : started.eventId,
          timestamp: base.createdAt,
          source: started.source,
          payload: {
            ...(eventIdOf(base.checkpointId) !== base.checkpointId && { checkpointId: base.checkpointId }),
            parentId: base.parentId,
            superstep: base.superstep,
            next: [...base.next],
            ...base.standing,
            state: base.state,
            versions: base.versions,
          },
        },
      ]
    : []
  return [own({ ...started, payload }), ...checkpoint, ...events.map(own)]
}
