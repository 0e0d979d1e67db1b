import { findSeals } from '../store/find-runs.ts'
import { AUDIT_BOOK, auditEvent } from '../audit-book.ts'
import { checkInput } from '../envelope.ts'
import { ClewError } from '../errors.ts'
import { deriveId } from '../ids.ts'
import type { PayloadReader } from '../payload-reader.ts'
import type { Ports } from '../ports.ts'
import type { Preparer } from '../prepare.ts'
import type { Store } from '../store/store.ts'
import type { PreparedEvent } from '../store/change.ts'
import { readNamedSeals, sealKey } from './pruned.ts'
import type { SealLine } from './seal-lines.ts'
import type { Seal } from '../store/change.ts'

interface AdoptParts {
  readonly store: Store
  readonly reader: PayloadReader
  readonly preparer: Preparer
  readonly ports: Pick<Ports, 'sha256'>
  readonly workspace: string
  readonly push: (events: readonly PreparedEvent[]) => Promise<unknown>
}

export interface SealImport {
  /** Takes a seal over, unless it is here or all that it stands for is. */
  adopt(line: SealLine): Promise<void>
  /** An event came, now or before, whose state is no longer kept. */
  notePruned(runId: string, seq: number): void
  /** Events that were pruned here do not come back. */
  isPruned(runId: string, seq: number): Promise<boolean>
  /**
   * The audit book says where the seals came from, and the ranges without states, that no event of it names. At the end, for
   * the audit book of the source may come along, and must find its place free; who is killed before does it the next time.
   */
  end(): Promise<void>
}

export async function createSealImport(parts: AdoptParts): Promise<SealImport> {
  const { store, workspace } = parts
  const hasSeals = (await store.info('prunedEvents')).prunedEvents > 0
  const known = new Map<string, Promise<readonly Seal[]>>()
  const taken: SealLine[] = []
  const pruned = new Map<string, number[]>()

  function sealsOf(runId: string): Promise<readonly Seal[]> {
    const found = known.get(runId) ?? findSeals(store, { workspace, runId })
    known.set(runId, found)
    return found
  }

  return {
    async adopt(line) {
      const { runId, toSeq, headHash } = line
      const key = { workspace, runId }
      const seals = await findSeals(store, { workspace, runId })
      if (
        seals.some((seal) => sealKey(seal) === sealKey(line)) ||
        'outcomes' in (await store.write({ calls: [], adopt: [{ workspace, ...line }] }))
      ) {
        taken.push(line)
        return
      }
      const [last] = await store.readRun(key, { afterSeq: toSeq - 1, upToSeq: toSeq, limit: 1 })
      if (last?.hash !== headHash) throw notFollowing(line)
    },
    notePruned(runId, seq) {
      const seqs = pruned.get(runId)
      if (seqs) seqs.push(seq)
      else pruned.set(runId, [seq])
    },
    async isPruned(runId, seq) {
      if (!hasSeals) return false
      return (await sealsOf(runId)).some(({ fromSeq, toSeq }) => fromSeq <= seq && seq <= toSeq)
    },
    async end() {
      if (taken.length + pruned.size === 0) return
      const named = await readNamedSeals(store, parts.reader, workspace)
      const sealed = taken
        .filter((line) => !named.seals.has(sealKey(line)))
        .map(({ runId, fromSeq, toSeq, headHash }) => ({ runId, fromSeq, toSeq, headHash, rule: 'imported' }))
      const stateless = [...pruned].flatMap(([runId, seqs]) => {
        const told = named.states.get(runId) ?? []
        const untold = seqs.filter(
          (seq) => !told.some(({ fromSeq, toSeq }) => fromSeq <= seq && seq <= toSeq),
        )
        const [fromSeq, toSeq] = [untold[0], untold.at(-1)]
        if (fromSeq === undefined || toSeq === undefined) return []
        return [{ runId, fromSeq, toSeq, states: untold.length, rule: 'imported' }]
      })
      for (const ranges of [sealed, stateless]) {
        if (ranges.length === 0) continue
        // Where redaction takes the names of runs out of the book, their states do not count as told: the id says it.
        const eventId = deriveId(parts.ports.sha256, AUDIT_BOOK, 'imported', JSON.stringify(ranges))
        const event = auditEvent('system.range_pruned', { ranges, events: 0 }, eventId)
        await parts.push([parts.preparer.prepare(checkInput(event))])
      }
    },
  }
}

const notFollowing = ({ runId, fromSeq, toSeq }: SealLine): ClewError =>
  new ClewError(
    'broken_import',
    `The seal of ${fromSeq} to ${toSeq} of run ${runId} does not follow what is here of that run`,
    'Import the events that come before it first.',
    { runId, fromSeq, toSeq },
  )
