import { ClewError } from '../errors.ts'
import { isObject, type JsonValue } from '../json.ts'
import type { PayloadReader } from '../read/payload-reader.ts'
import type { Store, StoredEvent } from '../store/store.ts'

const PAGE = 500
/** Positions that one read covers: a store that reads synchronously blocks for a few milliseconds. */
const WINDOW = 20_000
const MAX_WINDOW = 200_000

interface FindParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly workspace: string
}

interface FoundEvent {
  readonly event: StoredEvent
  /** The subject stands under `subjects`, where an event says whom its run is about. */
  readonly isSubject: boolean
}

/** Events that name the subject themselves, in whatever run: under `subjects`, or at one of the paths. */
export async function* findSubjectEvents(
  { store, reader, workspace }: FindParts,
  names: readonly string[],
  paths: readonly string[],
): AsyncGenerator<FoundEvent[]> {
  const parsed = paths.map(parsePath)
  const wanted = new Set(names)
  const isMeant = (value: unknown): boolean =>
    (typeof value === 'string' || typeof value === 'number') && wanted.has(String(value))
  const texts = names.map((name) => JSON.stringify(name).slice(1, -1))
  const { newestPosition } = await store.info('newestPosition')
  for (let [afterPosition, size] = [0, WINDOW]; afterPosition < newestPosition; ) {
    const upToPosition = afterPosition + size
    const window = { workspace, containing: texts, afterPosition, upToPosition, limit: PAGE }
    const events = await store.readAll(window)
    const found: FoundEvent[] = []
    for (const event of events) {
      const payload = await reader.toJson(event)
      const isSubject = valuesAt(payload, ['subjects']).some(isMeant)
      if (isSubject || parsed.some((path) => valuesAt(payload, path).some(isMeant)))
        found.push({ event, isSubject })
    }
    yield found
    afterPosition = events.length === PAGE ? (events.at(-1)?.position ?? upToPosition) : upToPosition
    // Positions may be far apart: windows grow while nothing is found in them.
    size = events.length === 0 ? Math.min(2 * size, MAX_WINDOW) : WINDOW
  }
}

function parsePath(path: string): readonly string[] {
  const keys = path.split('.')
  if (path !== '' && keys.every((key) => key !== '')) return keys
  throw new ClewError(
    'bad_option',
    `${JSON.stringify(path)} is not a path in a payload`,
    'Write keys with dots between them, such as customer.id, and * for any key; nothing was erased.',
    { option: 'paths' },
  )
}

/** All values at a path: lists are searched item by item, `*` is any key. */
function valuesAt(value: JsonValue, path: readonly string[]): JsonValue[] {
  const [key, ...rest] = path
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path))
  if (key === undefined) return [value]
  if (!isObject(value)) return []
  const object = value as Readonly<Record<string, JsonValue>>
  if (key === '*') return Object.keys(object).flatMap((each) => valuesAt(object[each] as JsonValue, rest))
  return Object.hasOwn(object, key) ? valuesAt(object[key] as JsonValue, rest) : []
}
