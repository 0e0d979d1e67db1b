import type { StoreHarness } from '../src/conformance/index.ts'
import { ClewError } from '../src/errors.ts'
import { createInProcessStore } from '../src/in-process/in-process-store.ts'
import type { Ports } from '../src/ports.ts'
import type { Store } from '../src/store/store.ts'
import { nodePorts } from './node-ports.ts'

/**
 * A memory store is one object and has no second connection. Each opening is a view of it that can be closed by
 * itself: then it is woken and refuses, as a closed connection does. `change` makes stores that break a rule.
 */
export function memoryHarness(
  change: (store: Store, ports: Ports) => Store = (store) => store,
): StoreHarness {
  return {
    ports: nodePorts,
    async create(ports) {
      const shared = change(createInProcessStore(ports), ports)
      return { open: async () => viewOf(shared), dispose: () => shared.close() }
    },
  }
}

function viewOf(store: Store): Store {
  const wakes = new Set<() => void>()
  let closed = false
  const guarded = Object.entries(store).map(([name, member]) => {
    if (typeof member !== 'function') return [name, member] as const
    const call = member as (...args: unknown[]) => unknown
    const guard = async (...args: unknown[]): Promise<unknown> => {
      if (closed) throw new ClewError('closed', 'This view is closed', 'Open another.')
      return call(...args)
    }
    return [name, guard] as const
  })
  return {
    ...(Object.fromEntries(guarded) as unknown as Store),
    watch(wake) {
      wakes.add(wake)
      const unwatch = store.watch(wake)
      return () => {
        wakes.delete(wake)
        unwatch()
      }
    },
    async close() {
      closed = true
      for (const wake of wakes) wake()
    },
  }
}
