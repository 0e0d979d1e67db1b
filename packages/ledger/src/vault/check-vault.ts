import type { Store } from '../store/store.ts'
import type { Problem } from '../verify/verify.ts'
import { type VaultCipher, vaultContext } from './vault.ts'

const PAGE = 500

/** Rows without an event or payload; with a cipher also rows that its keys do not decrypt. */
export async function checkVault(
  store: Store,
  workspace: string,
  cipher: VaultCipher | undefined,
): Promise<Problem[]> {
  const problems: Problem[] = []
  for (let afterPosition = 0; ; ) {
    const page = await store.readVault({ afterPosition, limit: PAGE })
    const last = page.at(-1)
    if (!last) return problems
    afterPosition = last.position
    for (const { position, event, ...row } of page) {
      if (!event) {
        const detail = `a vault row stands at position ${position}, where there is no event`
        problems.push({ runId: '', seq: null, problem: 'stray_vault_row', detail })
        continue
      }
      const { runId, seq } = event
      if (event.workspace !== workspace) continue
      if (!event.hasPayload) {
        const detail = 'its payload was erased or pruned, but a vault row still holds its secrets'
        problems.push({ runId, seq, problem: 'stray_vault_row', detail })
      } else if (cipher) {
        const opened = await cipher.decrypt(row, vaultContext(event))
        if ('problem' in opened && opened.problem === 'wrong key') {
          const detail = `its vault row does not decrypt with key ${row.keyId}`
          problems.push({ runId, seq, problem: 'unreadable_vault_row', detail })
        }
      }
    }
  }
}
