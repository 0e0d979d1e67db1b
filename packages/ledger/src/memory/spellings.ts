import type { Identities } from '../event/identity.ts'
import { memoryRunId, type MemoryScope } from './item.ts'
import type { RowName } from './memory-index.ts'

/** How names of memory are recorded, and what the record may have for them (`identity`). */
export interface Spellings {
  /** As it is recorded from now on. */
  stored(name: RowName): RowName
  /** All that the record may have for the name. */
  names(name: RowName): readonly RowName[]
  namespaces(namespace: string): readonly string[]
  tag(tag: string): readonly string[]
  /** The memory runs that a scope may have, the one that a new memory run gets first. */
  memoryRuns(scope: MemoryScope): readonly string[]
}

export function createSpellings({ identity }: Pick<Identities, 'identity'>): Spellings {
  const spelled = (name: string): readonly string[] => {
    const { stored, names } = identity(name)
    return [stored, ...names.filter((each) => each !== stored)]
  }

  /** Compares part by part, so that names below a namespace stay in it. */
  function storedNamespace(namespace: string): string {
    const parts = namespace.split('/').map((part) => identity(part).stored)
    return identity(parts.join('/')).stored
  }

  /** As given, as it is recorded from now on, whole, and with one of its parts changed. */
  function namespaces(namespace: string): readonly string[] {
    const parts = namespace.split('/')
    const changed = parts.map((part, at) =>
      parts.toSpliced(at, 1, identity(part).names.at(-1) as string).join('/'),
    )
    return [...new Set([storedNamespace(namespace), ...identity(namespace).names, ...changed])]
  }

  function scopes({ layer, scope }: MemoryScope): readonly string[] {
    if (layer === 'session') return spelled(scope)
    if (layer === 'long' && scope.startsWith('user:'))
      return spelled(scope.slice(5)).map((name) => `user:${name}`)
    return [scope]
  }

  return {
    stored: ({ namespace, key }) => ({ namespace: storedNamespace(namespace), key: identity(key).stored }),
    names: ({ namespace, key }) =>
      namespaces(namespace).flatMap((each) => spelled(key).map((name) => ({ namespace: each, key: name }))),
    namespaces,
    tag: (tag) => identity(tag).names,
    memoryRuns: (scope) => scopes(scope).map((name) => memoryRunId({ layer: scope.layer, scope: name })),
  }
}
