import { asOwn } from '../catalogue/catalogue.ts'
import { foldTags, NO_TAGS, type RunTags } from '../fold/scores-and-tags.ts'
import type { Ledger } from '../ledger.ts'
import { type ForkSignals, readForkSignals } from './read-signals.ts'

const TYPES = [
  'system.tagged',
  'system.workflow_submitted',
  'system.workflow_started',
  'system.workflow_forked',
] as const

/** What a fork after this event takes over beside the events: its tags and signals, as payload fields of `system.workflow_forked`. */
export async function readInherited(
  ledger: Pick<Ledger, 'read' | 'getRun'>,
  runId: string,
  seq: number,
): Promise<{ readonly tags?: RunTags; readonly signals?: ForkSignals }> {
  return { ...(await readForkTags(ledger, runId, seq)), ...(await readForkSignals(ledger, runId, seq)) }
}

async function readForkTags(
  ledger: Pick<Ledger, 'read'>,
  runId: string,
  seq: number,
): Promise<{ readonly tags?: RunTags }> {
  let tags = NO_TAGS
  for await (const event of ledger.read(runId, { types: TYPES })) {
    if (event.ledger.seq > seq) break
    const own = asOwn(event)
    if (own?.eventType === 'system.tagged') tags = foldTags(tags, own)
    // The tags of a submitted run are with its submission.
    else if (own?.eventType === 'system.workflow_started') tags = own.payload.tags ?? tags
    else if (own?.eventType === 'system.workflow_forked' || own?.eventType === 'system.workflow_submitted')
      tags = own.payload.tags ?? NO_TAGS
  }
  return Object.keys(tags).length === 0 ? {} : { tags }
}
