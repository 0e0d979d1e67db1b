import { ClewError } from '@clew/ledger'
import type {
  GetOperation,
  ListNamespacesOperation,
  Operation,
  PutOperation,
  SearchOperation,
} from '@langchain/langgraph-checkpoint'
import { assertNamespace } from './store-namespace.ts'

/** Minutes after which an item is over; the framework's own type has no place for it. */
export type TimedPut = PutOperation & { readonly ttl?: number | undefined }

export type Planned =
  | { readonly does: 'get'; readonly op: GetOperation }
  | { readonly does: 'put'; readonly op: TimedPut }
  | { readonly does: 'search'; readonly op: SearchOperation }
  | { readonly does: 'list'; readonly op: ListNamespacesOperation }

/** Checks all operations of a batch before the first one is carried out. */
export const planOperations = (operations: readonly Operation[]): Planned[] => operations.map(plan)

function plan(op: Operation, item: number): Planned {
  if ('namespacePrefix' in op) {
    assertCount('limit', op.limit)
    assertCount('offset', op.offset)
    return { does: 'search', op }
  }
  if ('value' in op) {
    assertKey(op.key)
    if (op.value !== null) {
      assertNamespace(op.namespace)
      assertValue(op.value)
      assertTtl((op as TimedPut).ttl)
    }
    return { does: 'put', op }
  }
  if ('key' in op && 'namespace' in op) {
    assertKey(op.key)
    return { does: 'get', op }
  }
  if ('matchConditions' in op || 'maxDepth' in op || ('limit' in op && 'offset' in op)) {
    assertCount('limit', op.limit)
    assertCount('offset', op.offset)
    assertCount('maxDepth', op.maxDepth)
    for (const { matchType } of op.matchConditions ?? [])
      if (matchType !== 'prefix' && matchType !== 'suffix')
        throw badOption(`The match type of operation ${item} is unknown`, 'Use prefix or suffix.')
    return { does: 'list', op }
  }
  throw badOption(
    `Operation ${item} of the batch is none that a store knows`,
    'Use get, put, delete, search or listNamespaces; nothing of the batch was carried out.',
  )
}

const badOption = (message: string, hint: string): ClewError => new ClewError('bad_option', message, hint)

function assertKey(key: unknown): void {
  if (typeof key !== 'string')
    throw badOption(`The key of an item is a ${typeof key}`, 'Use text; nothing was written.')
}

function assertCount(name: string, value: unknown): void {
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0)) return
  throw badOption(`The option ${name} is not a whole number from 0 on`, 'Correct it and ask again.')
}

export function assertTtl(ttl: unknown): void {
  if (ttl === undefined || (typeof ttl === 'number' && Number.isFinite(ttl) && ttl > 0)) return
  throw badOption('The ttl of an item is not a number of minutes above 0', 'Correct it, or leave it out.')
}

function assertValue(value: unknown): void {
  const prototype: unknown =
    typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined
  if (prototype === Object.prototype || prototype === null) return
  throw new ClewError(
    'bad_value',
    'The value at $ of an item is not a plain object',
    'Put it below a name of its own, such as { data: … }; nothing was written.',
    { path: '$' },
  )
}
