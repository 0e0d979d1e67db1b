import { readFileSync } from 'node:fs'
import type { EventInput } from '@clew/ledger'
import { openLedger } from 'clew'

export interface Acknowledged {
  readonly eventId: string
  readonly runId: string
  readonly seq: number
  readonly position: number
  readonly hash: string
}

/** One line of the writer's notes. */
export type Line =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly intent: readonly (EventInput & { eventId: string })[]; readonly epoch: number | undefined }
  | { readonly ack: Acknowledged }

export function readLines(file: string): Line[] {
  const whole = readFileSync(file, 'utf8').split('\n')
  // A line that was cut by the kill does not count.
  whole.pop()
  return whole.filter((text) => text !== '').map((text) => JSON.parse(text) as Line)
}

/**
 * Checks the file after a crash: everything acknowledged is stored exactly once with its hash, nothing is stored twice, the
 * chain verifies, projections equal a rebuild. Returns one sentence per violation.
 */
export async function findViolations(
  database: string,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const violations: string[] = []
  const ledger = await openLedger(`sqlite:${database}`)
  try {
    const { problems } = await ledger.verify(undefined, { projections: true })
    for (const { runId, seq, problem, detail } of problems)
      violations.push(`${problem}: run ${runId} seq ${seq}: ${detail}`)
    const places = new Map<string, Acknowledged>()
    const keys = new Map<string, string>()
    for await (const line of ledger.export()) {
      const {
        event_id: eventId,
        correlation_id: runId,
        payload,
        ledger: place,
      } = JSON.parse(line) as Exported
      places.set(`${runId} ${eventId}`, { eventId, runId, ...place })
      const other = keys.get(payload.key)
      if (other !== undefined) violations.push(`twice: ${payload.key} is in event ${other} and in ${eventId}`)
      keys.set(payload.key, eventId)
    }
    for (const { eventId, runId, seq, position, hash } of acknowledged) {
      const found = places.get(`${runId} ${eventId}`)
      if (!found) violations.push(`lost: event ${eventId}, acknowledged as seq ${seq} of run ${runId}`)
      else if (found.seq !== seq || found.hash !== hash || found.position !== position)
        violations.push(`moved: event ${eventId} of run ${runId} is not where and what was acknowledged`)
    }
  } finally {
    await ledger.close()
  }
  return violations
}

interface Exported {
  readonly event_id: string
  readonly correlation_id: string
  readonly payload: { readonly key: string }
  readonly ledger: { readonly seq: number; readonly position: number; readonly hash: string }
}

/** Sends again what was not answered, as a client does after a crash. */
export async function resend(database: string, lines: readonly Line[]): Promise<Acknowledged[]> {
  const known = new Set(lines.flatMap((line) => ('ack' in line ? [line.ack.eventId] : [])))
  const ledger = await openLedger(`sqlite:${database}`)
  try {
    const answers: Acknowledged[] = []
    for (const line of lines) {
      if (!('intent' in line) || line.epoch !== undefined) continue
      if (line.intent.every((event) => known.has(event.eventId))) continue
      for (const { eventId, correlationId, ledger: place } of await ledger.append(line.intent))
        answers.push({
          eventId,
          runId: correlationId,
          seq: place.seq,
          position: place.position,
          hash: place.hash,
        })
    }
    return answers
  } finally {
    await ledger.close()
  }
}
