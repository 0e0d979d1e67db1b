import type { Ledger } from '@clew/ledger'

const TYPES = ['paused', 'interrupted', 'blocked', 'completed', 'failed', 'stopped'].map(
  (how) => `system.workflow_${how}`,
)

/** What a run warned of whenever it came to rest, each once: redacted text that its code or its effects were given. */
export async function readWarnings(ledger: Ledger, runId: string): Promise<string[]> {
  const found = new Set<string>()
  for await (const { payload } of ledger.read(runId, { types: TYPES }))
    for (const warning of (payload['warnings'] ?? []) as readonly string[]) found.add(warning)
  return [...found]
}
