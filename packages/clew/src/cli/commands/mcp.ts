import { ClewError, type Ledger } from '@clew/ledger'
import { mcp } from '../../operations/mcp.ts'
import { agentsOf } from '../agent-flag.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'

/** The standard output belongs to the protocol, so nothing is printed there. */
export const mcpCommand: Command<InputOf<typeof mcp>> = async ({ input, flags, terminal, withLedger }) => {
  const agents = await agentsOf(flags)
  const work = async (ledger: Ledger): Promise<number> => {
    for await (const item of mcp.run(ledger, input, { agents, signal: terminal.signal }))
      if (item.type === 'serving' && process.stdin.isTTY)
        process.stderr.write(`clew mcp: waits for a client on standard input, ${item.tools.length} tools\n`)
    return EXIT.fine
  }
  try {
    // The index of searches is written, and so is the log of reads where the policy wants one.
    return await withLedger(work, { create: true })
  } catch (error) {
    if (!(error instanceof ClewError && error.code === 'store_readonly')) throw error
    return withLedger(work, { readOnly: true })
  }
}
