import { hash } from 'node:crypto'
import { ClewError, type EventInput } from '@clew/ledger'
import { isId, isObject, plainText, readTime, refuse } from '../foreign.ts'
import type { AgUiEvent } from './ag-ui-event.ts'
import { keep } from './native.ts'
import { MAPPINGS } from './read-events.ts'
import { closeAll } from './read-run.ts'
import { closeChunk } from './read-texts.ts'
import { createScene, type MapperState } from './mapper-state.ts'

export interface FromAgUiOptions {
  /** The run, where the stream does not begin with RUN_STARTED. */
  readonly runId?: string | undefined
  readonly threadId?: string | undefined
  /** Agent of the run, which AG-UI does not name. */
  readonly agent?: string | undefined
}

/** Turns a stream of AG-UI events into events, one at a time. */
export interface AgUiMapper {
  /** The events that follow from this one; a part of a message gives none, its end gives the whole message. */
  push(event: unknown): EventInput[]
  /** Events that close what the stream left open. */
  end(): EventInput[]
}

const CHUNK = /_CHUNK$/
const sha256 = (text: string): string => hash('sha256', text)

/**
 * AG-UI events have no ids and no numbers. The ids of what they become follow from the run, the ids of messages and
 * calls, and how often the same was told: a stream that is sent again from its beginning changes nothing (L4).
 */
export function createAgUiMapper({ runId, threadId, agent }: FromAgUiOptions = {}): AgUiMapper {
  let scene: MapperState | undefined
  let waiting: EventInput[] = []

  function sceneFor(event: AgUiEvent): MapperState {
    const named = plainText(event['runId'])
    if (event.type === 'RUN_STARTED') {
      const own = named ?? runId ?? refuse('runId', event['runId'], 'the id of the run')
      // The same run goes on after an answer to its questions.
      if (scene && scene.runId === own) {
        scene.ended = false
        return scene
      }
      return open(own, plainText(event['threadId']))
    }
    return scene ?? open(named ?? runId ?? refuse('runId', event['runId'], 'known: begin with RUN_STARTED'))
  }

  function open(id: string, thread?: string): MapperState {
    if (!isId(id)) refuse('runId', id, 'at most 512 characters without control characters')
    return createScene({ sha256, runId: id, agent }, thread ?? threadId)
  }

  return {
    push(given) {
      if (!isObject(given)) refuse('(the event)', given, 'an object with a type')
      const type = plainText(given['type']) ?? refuse('type', given['type'], 'the type of the event')
      const event: AgUiEvent = { ...given, type }
      const next = sceneFor(event)
      if (scene && scene !== next) waiting.push(...finish(scene))
      scene = next
      next.draft.setTime(readTime(event['timestamp']))
      if (!CHUNK.test(type)) closeChunk(next)
      // Events drafted before a faulty one are returned with the next one.
      const mapping = Object.hasOwn(MAPPINGS, type) ? MAPPINGS[type] : undefined
      if (mapping) mapping({ scene: next, event })
      else keep({ scene: next, event })
      return takeAll()
    },
    end() {
      if (scene) waiting.push(...finish(scene))
      return takeAll()
    },
  }

  function takeAll(): EventInput[] {
    const taken = [...waiting, ...(scene?.take() ?? [])]
    waiting = []
    return taken
  }
}

function finish(scene: MapperState): EventInput[] {
  if (!scene.ended) closeAll(scene, 'the stream ended')
  scene.ended = true
  return scene.take()
}

/** An AG-UI event that was refused. */
export interface AgUiProblem {
  readonly index: number
  readonly reason: string
}

/** A whole stream at once. */
export function fromAgUiEvents(
  events: Iterable<unknown>,
  options: FromAgUiOptions = {},
): { readonly events: readonly EventInput[]; readonly problems: readonly AgUiProblem[] } {
  const mapper = createAgUiMapper(options)
  const taken: EventInput[] = []
  const problems: AgUiProblem[] = []
  let index = 0
  for (const event of events) {
    try {
      taken.push(...mapper.push(event))
    } catch (error) {
      if (!(error instanceof ClewError)) throw error
      problems.push({ index, reason: error.message })
    }
    index++
  }
  taken.push(...mapper.end())
  return { events: taken, problems }
}
