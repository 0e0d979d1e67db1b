import type { AgentSet } from '../control/run-control.ts'
import { type Flags, text } from './command.ts'

/** Loads the modules named by `--agent`; undefined without it. */
export async function agentsOf(flags: Flags): Promise<AgentSet | undefined> {
  const module = text(flags['agent'])
  if (module === undefined) return undefined
  return (await import('../control/load-agents.ts')).loadAgents(module)
}
