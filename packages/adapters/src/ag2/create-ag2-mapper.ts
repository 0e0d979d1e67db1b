import type { EventInput, JsonValue } from '@clew/ledger'
import { isObject, plainText, readTime, refuse } from '../foreign.ts'
import type { MapOptions } from '../mapped-run.ts'
import { CURRENT } from './current-events.ts'
import { RUN_ITER } from './run-iter-events.ts'
import { agentName, createScene, type MapperState, without } from './mapper-state.ts'

export interface Ag2Mapper {
  /** The events that one native event becomes; the first one also begins the run. */
  push(native: JsonValue): EventInput[]
  /** The run has ended: what follows belongs to the next one. */
  readonly ended: boolean
}

/** Turns the events of one run of AG2, of both generations, into envelope events, one by one and in constant memory. */
export function createAg2Mapper(options: MapOptions): Ag2Mapper {
  const scene = createScene(options)
  const seen = new Map<string, number>()
  let count = 0
  let begun = false

  /** The natural key is the event's uuid; a missing or repeated one is made unique by its position. */
  function keyOf(uuid: string | undefined): (string | number)[] {
    if (uuid === undefined) return ['event', count]
    const times = seen.get(uuid) ?? 0
    seen.set(uuid, times + 1)
    return times === 0 ? [uuid] : [uuid, times]
  }

  return {
    get ended() {
      return scene.ended
    },
    push(native) {
      if (!isObject(native))
        refuse('(the event)', native, 'an object with type and content, or with __event__')
      count++
      const { name, content, map } = readNative(native)
      scene.draft.setTime(
        readTime(native['timestamp']) ??
          readTime(native['created_at']) ??
          readTime(native['at']) ??
          readTime(content['created_at']) ??
          readTime(content['timestamp']),
      )
      if (!begun) begin(scene, options, agentName(content['recipient']) ?? agentName(content['sender']))
      begun = true
      const key = keyOf(plainText(content['uuid']))
      if (!map) keep(scene, name, content, key)
      else map({ scene, content, key })
      return scene.take()
    },
  }
}

function begin(scene: MapperState, { agent }: MapOptions, found: string | undefined): void {
  const payload = { agent: agent ?? found ?? 'ag2' }
  scene.add({ type: 'system.workflow_started', key: ['start'], origin: 'system', cause: null, payload })
}

/** Never rejected, never lost: a type of its own name, the fields as they came. */
function keep(
  scene: MapperState,
  name: string,
  content: Parameters<typeof without>[0],
  key: (string | number)[],
): void {
  const type = `system.ag2.${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 80)}`
  scene.draft.add({ type, key, origin: 'system', cause: scene.last, payload: without(content) })
}

function readNative(native: { [key: string]: JsonValue }) {
  const qualified = native['__event__']
  if (typeof qualified === 'string') {
    const name = qualified.split('.').at(-1) ?? ''
    return { name, content: native, map: Object.hasOwn(CURRENT, name) ? CURRENT[name] : undefined }
  }
  const type = native['type']
  if (typeof type !== 'string' || type === '') refuse('type', type, 'the name of the event, such as text')
  const given = native['content'] ?? {}
  const content = isObject(given) ? given : { content: given }
  return { name: type, content, map: Object.hasOwn(RUN_ITER, type) ? RUN_ITER[type] : undefined }
}
