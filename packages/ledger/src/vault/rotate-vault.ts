import type { Store } from '../store/store.ts'
import { badKey, type VaultCipher, vaultContext } from './vault.ts'
import type { VaultChange } from './vault-rows.ts'

export interface RotateOptions {
  /** Called with the number of rows that have been encrypted again so far. */
  readonly onProgress?: ((rows: number) => void) | undefined
}

export interface VaultRotation {
  /** Id of the key that all rows are encrypted with now. */
  readonly keyId: string
  readonly rows: number
  /** Rows that do not decrypt with their key, because they were changed or moved. They keep their key; `verify` names them. */
  readonly unreadable: number
}

const BATCH = 200

/**
 * Encrypts all rows of older keys with the current one, a transaction per batch: after a kill each row is old or new,
 * and rotating again goes on. A row that changed meanwhile, or whose payload went, is left as it is.
 */
export async function rotateVault(
  store: Store,
  cipher: VaultCipher,
  { onProgress }: RotateOptions = {},
): Promise<VaultRotation> {
  await cipher.renew()
  const { keyId } = cipher
  let rows = 0
  let unreadable = 0
  for (let afterPosition = 0; ; ) {
    const page = await store.readVault({ afterPosition, limit: BATCH, exceptKeyId: keyId })
    const last = page.at(-1)
    if (!last) return { keyId, rows, unreadable }
    afterPosition = last.position
    const changes: VaultChange[] = []
    for (const { position, event, ...before } of page) {
      // Stray rows are reported by verify.
      if (!event?.hasPayload) continue
      const context = vaultContext(event)
      const opened = await cipher.decrypt(before, context)
      if ('problem' in opened) {
        if (opened.problem === 'no key') throw badKey(opened.problem, before.keyId, event)
        unreadable++
        continue
      }
      changes.push({ position, before, after: { keyId, data: cipher.encrypt(opened.text, context) } })
    }
    rows += await replaceRows(store, changes)
    onProgress?.(rows)
  }
}

/** How many of the rows are replaced now: one that changed in the meantime is left alone by the store. */
async function replaceRows(store: Store, changes: readonly VaultChange[]): Promise<number> {
  await store.write({ calls: [], vault: changes })
  const after = new Map(changes.map((change) => [change.position, change.after.data]))
  const rows = await store.readVault({ positions: [...after.keys()] })
  return rows.filter(({ position, data }) => after.get(position) === data).length
}
