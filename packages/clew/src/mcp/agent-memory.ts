import { ClewError, type Ledger } from '@clew/ledger'

/** A namespace is open to agents if the policy of the workspace names it, or one above it. */
export async function assertOpenToAgents(
  ledger: Ledger,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  const namespace = String(input['namespace'])
  const { agentMemory = [] } = await ledger.policy()
  if (agentMemory.some((open) => namespace === open || namespace.startsWith(`${open}/`))) return
  throw new ClewError(
    'forbidden',
    'The policy of this workspace does not open this namespace of memory to agents',
    `Open it: clew policy --set '{"agentMemory":["${agentMemory[0] ?? 'notes'}"]}'. Nothing was written.`,
    { namespace: namespace.slice(0, 200) },
  )
}
