import type { Identities } from '../event/identity.ts'
import type { Leases } from '../store/leases.ts'

/**
 * Leases that know a thread by all its names: as long as a run of it is held under one of them, none is given under
 * another. What is held is recorded as runs are (P1).
 */
export function nameThreads(leases: Leases, { identity, isSame }: Identities): Leases {
  return {
    ...leases,
    async acquire(key, threadId = null, options = {}) {
      if (threadId === null) return leases.acquire(key, null, options)
      const { stored, names } = identity(threadId)
      // The name behind an `id-` form is not known here; a run that is held under it is.
      const known = names.length > 1 ? names : (await leases.list()).map((lease) => lease.threadId ?? '')
      const alsoThreads = known.filter((name) => name !== stored && isSame(name, threadId))
      return leases.acquire(key, stored, alsoThreads.length > 0 ? { ...options, alsoThreads } : options)
    },
  }
}
