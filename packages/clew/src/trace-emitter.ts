import { setTimeout as sleep } from 'node:timers/promises'
import { nodePorts } from '@clew/runtime/node-ports'
import { TraceEmitter as PureEmitter, type TraceEmitterOptions, type TracePorts } from '@clew/trace'

/** Platform functions of a `TraceEmitter` from Node. */
const tracePorts: TracePorts = {
  now: nodePorts.now,
  randomHex: nodePorts.randomHex,
  after(ms, task) {
    const timer = setTimeout(task, ms).unref()
    return () => clearTimeout(timer)
  },
  async sleep(ms) {
    await sleep(ms)
  },
  fetch: (url, request) => fetch(url, request),
}

/** Writes sessions to a ledger or, with `{ server, token }`, through a Clew server (T1). */
export class TraceEmitter extends PureEmitter {
  constructor(options: TraceEmitterOptions) {
    super(options, tracePorts)
  }
}
