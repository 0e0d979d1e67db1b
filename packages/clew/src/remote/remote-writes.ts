import {
  type ClewEvent,
  type Codecs,
  createIds,
  fromWire,
  type JsonValue,
  type Ledger,
  type Payload,
  toWireInputs,
  type WireEnvelope,
  type WireEvent,
} from '@clew/ledger'
import { nodePorts } from '@clew/runtime/node-ports'
import { askAgain, type RemoteServer } from './ask-server.ts'

interface Writes extends Pick<Ledger, 'record' | 'append' | 'appendWire' | 'waiting'> {
  /** Resolves when all appends were answered, or failed. */
  settle(): Promise<void>
}

/** A server that is silent for so long may have lost the request or its answer: the events are sent again. */
const ANSWER_TIMEOUT_MS = 30_000

/** `event` as code gets it. */
export const toEvent = (codecs: Codecs, wire: WireEvent): ClewEvent => {
  const event = fromWire(wire)
  return { ...event, payload: codecs.decode(event.payload as JsonValue) as Payload }
}

/** W9: ids are made here, so what is sent again after a lost answer is answered with its first place (L4). */
export function createWrites(server: RemoteServer): Writes {
  const { codecs } = server
  const newId = createIds(nodePorts)
  const { now, context } = nodePorts
  /** The last append to each run: the next one is sent when it is answered, for events stand in the order of the calls (L3). */
  const tails = new Map<string, Promise<unknown>>()
  let waiting = 0

  const write: Writes['appendWire'] = async (events, { expectedSeq, epoch } = {}) => {
    if (events.length === 0) return []
    // As the events are at the call: the caller may change them while they wait.
    const body = JSON.stringify({ events, options: { expectedSeq, epoch } })
    const send = async (): Promise<readonly ClewEvent[]> => {
      const rest = { method: 'post', path: '/v1/events' } as const
      const question = { rest, input: { full: true }, body, timeoutMs: ANSWER_TIMEOUT_MS }
      const { results } = await askAgain<{ results: WireEvent[] }>(server, question)
      return results.map((wire) => toEvent(codecs, wire))
    }
    waiting += events.length
    return inOrder(events, send).finally(() => (waiting -= events.length))
  }

  function inOrder<T>(events: readonly unknown[], send: () => Promise<T>): Promise<T> {
    const runs = [...new Set(events.map((event) => String((event as Partial<WireEnvelope>).correlation_id)))]
    const before = runs.flatMap((runId) => tails.get(runId) ?? [])
    const sent = before.length === 0 ? send() : Promise.allSettled(before).then(send)
    for (const runId of runs) tails.set(runId, sent)
    const leave = (): void => {
      for (const runId of runs) if (tails.get(runId) === sent) tails.delete(runId)
    }
    sent.then(leave, leave)
    return sent
  }

  const append: Writes['append'] = async (events, options) =>
    write(toWireInputs(events, { codecs, newId, now, currentCause: context.current }), options)

  return {
    append,
    record: async (event) => (await append([event]))[0] as ClewEvent,
    // Without an id of its own an event would be another one each time it is sent.
    appendWire: async (events, options) =>
      write(
        events.map((event) =>
          typeof event === 'object' && event !== null && !('event_id' in event)
            ? { ...event, event_id: newId() }
            : event,
        ),
        options,
      ),
    get waiting() {
      return waiting
    },
    async settle() {
      while (tails.size > 0) await Promise.allSettled(tails.values())
    },
  }
}
