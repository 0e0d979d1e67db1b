import type { ClewEvent, Ledger } from '@clew/ledger'

/** Where a process dies: at its n-th append (from 0), before the commit or after it but before the answer. */
export interface Kill {
  readonly append: number
  readonly committed: boolean
}

export interface Mortal {
  readonly ledger: Ledger
  /** Resolves when the process has died and what it had handed over is settled. */
  readonly died: Promise<'died'>
  /** Events whose commit was acknowledged to the process. */
  readonly acknowledged: readonly ClewEvent[]
  readonly isDead: boolean
  readonly appends: number
}

const never = new Promise<never>(() => {})

/** One life of a process: from its death on, nothing it awaits from the ledger ever settles. */
export function createMortal(inner: Ledger, kill?: Kill): Mortal {
  const acknowledged: ClewEvent[] = []
  const pending = new Set<Promise<unknown>>()
  let appends = 0
  let dead = false
  let die = (): void => {}
  const died = new Promise<void>((resolve) => {
    die = resolve
  }).then(async () => {
    await Promise.allSettled(pending)
    return 'died' as const
  })

  async function append(...args: Parameters<Ledger['append']>): Promise<readonly ClewEvent[]> {
    if (dead) return never
    const now = appends++
    const last = now === kill?.append
    if (last) dead = true
    if (last && !kill.committed) {
      die()
      return never
    }
    const written = inner.append(...args)
    pending.add(written)
    if (last) die()
    try {
      const events = await written
      if (dead) return await never
      acknowledged.push(...events)
      return events
    } catch (error) {
      if (dead) return never
      throw error
    } finally {
      pending.delete(written)
    }
  }

  async function* read(...args: Parameters<Ledger['read']>): AsyncGenerator<ClewEvent> {
    for await (const event of inner.read(...args)) yield dead ? await never : event
  }

  return {
    ledger: { ...inner, append, read },
    died,
    acknowledged,
    get isDead() {
      return dead
    },
    get appends() {
      return appends
    },
  }
}
