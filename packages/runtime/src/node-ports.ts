import { hash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ports } from '@clew/ledger'
import { currentCause, runCausedBy } from './machine/call-context.ts'

/** The ledger's needs, met by Node. */
export const nodePorts: Ports = {
  sha256: (text) => hash('sha256', text),
  randomHex: (bytes) => randomBytes(bytes).toString('hex'),
  now: Date.now,
  defer: (task) => void setImmediate(task),
  async sleep(ms, signal) {
    await sleep(ms, undefined, signal && { signal })
  },
  context: { run: runCausedBy, current: currentCause },
}
