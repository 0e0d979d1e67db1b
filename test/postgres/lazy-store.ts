import { createInProcessStore, type Store } from '@clew/ledger'
import { nodePorts } from '../../packages/ledger/test/node-ports.ts'

type Methods = Record<string, unknown>

/** What a store consists of: methods, and parts that consist of methods. */
const SHAPE = createInProcessStore(nodePorts) as unknown as Methods

/** A store that is opened by its first use: for those who cannot wait where they make one. */
export function createLazyStore(open: () => Promise<Store>): Store {
  let opening: Promise<Store> | undefined
  const opened = (): Promise<Store> => (opening ??= open())
  const own: Pick<Store, 'url' | 'watch' | 'close'> = {
    url: 'postgres:',
    watch(wake) {
      let unwatch: (() => void) | undefined
      let isOver = false
      const begin = async (): Promise<void> => {
        const store = await opened()
        if (!isOver) unwatch = store.watch(wake)
      }
      begin().then(wake, wake)
      return () => {
        isOver = true
        unwatch?.()
      }
    },
    async close() {
      await (await opening)?.close()
    },
  }
  return { ...waiting(SHAPE, opened), ...own } as unknown as Store
}

/** The same methods, each of which waits until there is something to call it on. */
function waiting(shape: Methods, target: () => Promise<object>): Methods {
  const methods: Methods = {}
  for (const [name, value] of Object.entries(shape)) {
    const of = async (): Promise<object> => Reflect.get(await target(), name) as object
    if (typeof value === 'function')
      methods[name] = async (...args: unknown[]) =>
        Reflect.apply((await of()) as () => unknown, undefined, args)
    else if (typeof value === 'object') methods[name] = waiting(value as Methods, of)
  }
  return methods
}
