import { ClewError, isTerminal, type Ledger } from '@clew/ledger'
import { signal } from '@clew/runtime'
import { setTimeout as sleep } from 'node:timers/promises'
import { signalFor } from './random-agents.ts'

const LOOK_MS = 5
const RECEIVES = 'receive:'

/** Somebody elsewhere who sends each step that receives its signal, once, and some of them twice under one id. */
export function sendWhatIsAwaited(ledger: Ledger): { stop(): Promise<void> } {
  const sent = new Set<string>()
  let isOver = false
  const sending = (async () => {
    for (let n = 0; !isOver; n++) {
      const { runs } = await ledger.listRuns({ limit: 500 })
      for (const { runId, status } of runs)
        if (!isTerminal(status) && status !== 'blocked') await sendTo(runId, n)
      await sleep(LOOK_MS)
    }
  })()

  async function sendTo(runId: string, n: number): Promise<void> {
    // Of a fork, steps that it shares with its source may be waiting, too.
    for (const { stepId, attempt, kind, nodeName, status } of await ledger.getSteps(runId)) {
      const id = `${stepId} ${attempt}`
      if (kind !== 'receive' || (status !== 'running' && status !== 'paused')) continue
      if (sent.has(`${runId} ${id}`)) continue
      sent.add(`${runId} ${id}`)
      const name = nodeName.slice(RECEIVES.length)
      try {
        for (let times = 0; times <= n % 2; times++)
          await signal(ledger, runId, name, signalFor(name), { id })
      } catch (error) {
        if (!(error instanceof ClewError && error.code === 'ended')) throw error
      }
    }
  }

  return {
    async stop() {
      isOver = true
      await sending
    },
  }
}

/** W3: no signal is received twice, and what was not received is what the summary counts as unread. */
export async function signalFlaws(ledger: Ledger, runId: string): Promise<string[]> {
  const flaws: string[] = []
  const unread = new Set<string>()
  for await (const { eventId, eventType, payload } of ledger.read(runId)) {
    if (eventType === 'system.signal_received' && payload['childRunId'] === undefined) unread.add(eventId)
    const { signal: taken } = payload as { signal?: { eventId: string } }
    if (taken && !unread.delete(taken.eventId)) flaws.push(`W3 ${taken.eventId} was received twice`)
  }
  const counted = (await ledger.getRun(runId))?.signals?.unread ?? 0
  if (counted !== unread.size) flaws.push(`W3 ${counted} signals are unread, and not ${unread.size}`)
  return flaws
}
