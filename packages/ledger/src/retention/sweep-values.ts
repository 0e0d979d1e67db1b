import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import type { Ports } from '../ports.ts'
import type { Store } from '../store/store.ts'
import type { PendingScope } from '../store/values.ts'
import { childIds } from '../hash/tree.ts'
import { createPace } from './pace.ts'

interface ReadParts {
  readonly store: Pick<Store, 'values' | 'disk'>
  readonly ports: Pick<Ports, 'defer' | 'now'>
}

interface SweepParts {
  readonly store: Pick<Store, 'values' | 'disk' | 'info'>
  readonly ports: Pick<Ports, 'defer' | 'sleep' | 'now'>
}

export interface SweepOptions {
  /** Called with the number of deleted values so far; an exception ends the sweep, and the next one repeats it. */
  readonly onProgress?: ((values: number) => void) | undefined
}

const BODIES = 500
const NODES = 2000
/** Values of one transaction. */
const DROPPED = 50
/** A scope in which others write so often is left for the next time. */
const ATTEMPTS = 10

/**
 * Deletes the shared values that no event references any more, in the scopes whose events or payloads were deleted. A
 * concurrent writer may have reused a free value: new events are read before anything is deleted.
 */
export async function sweepValues(
  { store, ports }: SweepParts,
  { onProgress }: SweepOptions = {},
): Promise<number> {
  const { values, disk } = store
  const pace = await createPace(store, ports)
  let dropped = 0
  for (const pending of await values.pending()) await sweepScope(pending)
  return dropped

  async function sweepScope({ scope, mark }: PendingScope): Promise<void> {
    const { children, needed, markFrom } = await readScope({ store, ports }, scope)
    let position = await markFrom(0)
    // Parents before the values below them: whatever is there at any moment has all that it refers to.
    const free = parentsFirst(children, needed)
    for (let at = 0, attempts = 0; ; ) {
      const ids = free.slice(at, at + DROPPED).filter((id) => !needed.has(id))
      const startedMs = ports.now()
      const isLast = at + DROPPED >= free.length
      if (await values.drop({ scope, ids, upToPosition: position, mark: isLast ? mark : undefined })) {
        dropped += ids.length
        at += DROPPED
        onProgress?.(dropped)
        if (isLast) return
      } else {
        if (++attempts > ATTEMPTS) return
        position = await markFrom(position)
      }
      disk.flush()
      await pace.rest(ports.now() - startedMs, 0)
    }
  }
}

interface ScopeValues {
  /** Values by id, each with the ids of the values below it. */
  readonly children: ReadonlyMap<number, readonly number[]>
  /** Values that events up to the position marked last refer to. */
  readonly needed: ReadonlySet<number>
  /** Marks what events after a position refer to; returns the position of the last of them. */
  markFrom(position: number): Promise<number>
}

async function readScope({ store, ports }: ReadParts, scope: number): Promise<ScopeValues> {
  const { values, disk } = store
  const children = new Map<number, number[]>()
  const needed = new Set<number>()
  for (let after = -1; ; ) {
    const page = await values.list(scope, after, NODES)
    for (const { id, body } of page) children.set(id, childIds(body))
    disk.flush()
    await yieldToEventLoop(ports)
    if (page.length < NODES) break
    after = page.at(-1)?.id ?? after
  }

  async function markFrom(start: number): Promise<number> {
    let after = start
    for (;;) {
      const page = await values.references(scope, after, BODIES)
      await need(page.flatMap(({ body }) => childIds(body)))
      after = page.at(-1)?.position ?? after
      disk.flush()
      await yieldToEventLoop(ports)
      if (page.length < BODIES) return after
    }
  }

  async function need(ids: readonly number[]): Promise<void> {
    for (let open = [...ids]; open.length > 0; ) {
      const below: number[] = []
      const unknown: number[] = []
      for (const id of open) {
        if (needed.has(id)) continue
        needed.add(id)
        const known = children.get(id)
        if (known) below.push(...known)
        else unknown.push(id)
      }
      // Values that were written after the scope was read.
      if (unknown.length > 0)
        for (const { body } of (await values.read(unknown)).values()) below.push(...childIds(body))
      open = below
    }
  }
  return { children, needed, markFrom }
}

/** Values of a scope that no event refers to; none where a sweep is pending, which will take them away. */
export async function countUnused(parts: ReadParts, scope: number): Promise<number> {
  const { children, needed, markFrom } = await readScope(parts, scope)
  if (children.size === 0) return 0
  await markFrom(0)
  const unused = children.keys().reduce((sum, id) => sum + (needed.has(id) ? 0 : 1), 0)
  if (unused === 0) return 0
  const pending = await parts.store.values.pending()
  return pending.some((each) => each.scope === scope) ? 0 : unused
}

function parentsFirst(
  children: ReadonlyMap<number, readonly number[]>,
  needed: ReadonlySet<number>,
): number[] {
  const done = new Set<number>()
  const childrenFirst: number[] = []
  for (const root of children.keys()) {
    const open = [{ id: root, isBelowDone: false }]
    for (let next = open.pop(); next; next = open.pop()) {
      const { id, isBelowDone } = next
      if (isBelowDone) childrenFirst.push(id)
      else if (!needed.has(id) && !done.has(id)) {
        done.add(id)
        open.push({ id, isBelowDone: true })
        for (const child of children.get(id) ?? []) open.push({ id: child, isBelowDone: false })
      }
    }
  }
  return childrenFirst.toReversed()
}
