import { ClewError, type Ledger, recordAudit } from '@clew/ledger'

export interface Access {
  readonly action: 'export' | 'read'
  /** The operation that it was done by. */
  readonly operation: string
  readonly target: string
  readonly by?: string | undefined
}

/** V8. A read-only ledger records no reads: access to the file is controlled by its owner. */
export async function logAccess(ledger: Ledger, { by, ...access }: Access): Promise<void> {
  try {
    await recordAudit(ledger, 'system.access', { ...access, ...(by !== undefined && { by }) })
  } catch (error) {
    if (error instanceof ClewError && (error.code === 'store_readonly' || error.code === 'switched_off'))
      return
    throw error
  }
}
