import { asOwn, type Ledger, type OwnEvent } from '@clew/ledger'

const TYPES = (['paused', 'interrupted', 'blocked', 'completed', 'failed', 'stopped'] as const).map(
  (how) => `system.workflow_${how}` as const,
)
type RestEvent = OwnEvent<(typeof TYPES)[number]>

/** Reads the distinct warnings of a run: redacted text that its code or effects received. */
export async function readWarnings(ledger: Ledger, runId: string): Promise<string[]> {
  const found = new Set<string>()
  for await (const event of ledger.read(runId, { types: TYPES }))
    for (const warning of (asOwn(event) as RestEvent | undefined)?.payload.warnings ?? []) found.add(warning)
  return [...found]
}
