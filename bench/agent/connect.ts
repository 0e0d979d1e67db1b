import { createMcpServer, type Session } from '@clew/mcp'
import type { Transport } from '@modelcontextprotocol/client'
import type { Ledger } from 'clew'
import { createMcpParts } from '../../packages/clew/src/mcp/create-mcp-parts.ts'

/** The server as `clew mcp` has it, over a transport in this process. */
export async function createEndpointForBench(ledger: Ledger, transport: Transport): Promise<void> {
  const session: Session = { ledger, may: ({ scope }) => scope === 'read', howToAllow: () => '' }
  await createMcpServer(createMcpParts(), session).connect(transport)
}
