import { shellWord } from './cli/question.ts'
import { findSecrets, type JsonObject, type Ledger } from '@clew/ledger'
import type { ScanReport, StoredSecret } from './operations/doctor.ts'

const LISTED = 1000

/** Finds stored text that today's rules would redact. Reads each event once, in constant memory. */
export async function scanSecrets(
  ledger: Ledger,
  onProgress?: (events: number) => void,
): Promise<ScanReport> {
  const places: StoredSecret[] = []
  const byKind: Record<string, number> = {}
  let events = 0
  let total = 0
  for await (const line of ledger.export({ onProgress })) {
    events++
    const event = JSON.parse(line) as StoredLine
    for (const { path, kind } of findSecrets(ledger.redactor, event.payload)) {
      total++
      byKind[kind] = (byKind[kind] ?? 0) + 1
      if (places.length < LISTED)
        places.push({ runId: event.correlation_id, seq: event.ledger.seq, path, kind })
    }
  }
  return { events, places, total, byKind, erase: eraseCommands(places) }
}

/** With more events than this in a run it is easier to erase the whole run. */
const EVENTS = 3

function eraseCommands(places: readonly StoredSecret[]): string[] {
  const runs = new Map<string, Set<number>>()
  for (const { runId, seq } of places) runs.set(runId, (runs.get(runId) ?? new Set()).add(seq))
  const why = '--reason "a secret in clear"'
  return [...runs].flatMap(([runId, seqs]) =>
    seqs.size > EVENTS
      ? [`clew erase --run ${shellWord(runId)} ${why}`]
      : [...seqs].map((seq) => `clew erase --event ${shellWord(`${runId}:${seq}`)} ${why}`),
  )
}

interface StoredLine {
  readonly correlation_id: string
  readonly payload: JsonObject
  readonly ledger: { readonly seq: number }
}
