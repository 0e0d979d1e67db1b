import { startWorker } from '@clew/runtime'
import { openLedger } from '../../open-ledger.ts'
import { answerPeople } from './answer-people.ts'
import { createDemoAgents, type DemoSettings } from './demo-agents.ts'

/** The process in which the agents of the demo live: it may be killed at any moment, and the next one goes on. */

export interface AgentProcessSettings extends DemoSettings {
  readonly store: string
}

/** Ends the process as a crash would, with its work in flight. */
const LEAVE_MS = 2000

const leaving = new AbortController()
function leave(): void {
  leaving.abort()
  setTimeout(() => process.exit(), LEAVE_MS).unref()
}
// Before the first await: the parent process may have ended already, and nothing else would end this one.
process.once('disconnect', leave)
process.once('SIGTERM', leave)
// Ctrl-C reaches all processes of the terminal: the one that started this says when it ends.
process.on('SIGINT', () => undefined)

const settings = JSON.parse(process.argv[2] ?? '') as AgentProcessSettings
const ledger = await openLedger(settings.store)
const agents = createDemoAgents(ledger, settings)

const worker = await startWorker({ ledger, agents: Object.values(agents), sweepMs: 1000 })
await answerPeople(ledger, agents, leaving.signal)
await worker.stop()
await ledger.close()
process.exit()
