import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openLedger } from '../src/open-ledger.ts'
import { AGENTS, START } from './controlled-agents.ts'
import { BIN, ended, type Ended, startNode } from './run-clew.ts'

export interface Shown {
  readonly run: { readonly runId: string; readonly status: string; readonly events: number }
}

/** A folder with a store, a module of agents, and ways to start and steer them as a user does. */
export interface ControlledRuns {
  readonly folder: string
  readonly store: string
  file(name: string): string
  /** A Node in the folder, on the store. */
  spawned(args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess
  clew(...args: string[]): Promise<Ended>
  inMode(mode: string, ...args: string[]): Promise<Ended>
  /** The \`data\` that a command answers with. */
  data<T = Shown>(...args: string[]): Promise<T>
  /** A process that works on a run; the agent \`slow\` hangs at its third page. */
  starting(name: string, runId: string, input?: unknown, options?: object): ChildProcess
  /** Until the run rests. */
  started(name: string, runId: string, input?: unknown, options?: object): Promise<void>
  /** Resolves when the run has recorded so many events. */
  grown(runId: string, events: number): Promise<void>
  statusOf(runId: string): Promise<string | undefined>
  /** How often that was done outside. */
  calls(what: string): number
  remove(): void
}

export function createControlledRuns(): ControlledRuns {
  const folder = mkdtempSync(join(tmpdir(), 'clew-control-'))
  const file = (name: string): string => join(folder, name)
  const store = `sqlite:${file('ledger.db')}`
  writeFileSync(file('agents.ts'), AGENTS)
  writeFileSync(file('start.ts'), START)
  writeFileSync(file('calls.txt'), '')

  const spawned = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess =>
    startNode(folder, args, { CLEW_STORE: store, COLUMNS: '100', ...env })
  const clew = (...args: string[]): Promise<Ended> => ended(spawned([BIN, ...args]))
  const starting: ControlledRuns['starting'] = (name, runId, input = null, options = {}) => {
    const given = [name, JSON.stringify(input), JSON.stringify({ runId, ...options })]
    return spawned(['start.ts', ...given], { HANG_AT: '3' })
  }

  return {
    folder,
    store,
    file,
    spawned,
    clew,
    inMode: (mode, ...args) => ended(spawned([BIN, ...args], { CLEW_MODE: mode })),
    async data<T>(...args: string[]) {
      const { stdout } = await clew(...args, '--json')
      return (JSON.parse(stdout) as { data: T }).data
    },
    starting,
    async started(...args) {
      const { code, stderr } = await ended(starting(...args))
      expect([code, stderr]).toEqual([0, ''])
    },
    async grown(runId, events) {
      const ledger = await openLedger(store, { create: false })
      try {
        for await (const event of ledger.follow({ runId, signal: AbortSignal.timeout(30_000) }))
          if (event.ledger.seq >= events) return
        throw new Error(`run ${runId} did not grow`)
      } finally {
        await ledger.close()
      }
    },
    async statusOf(runId) {
      const ledger = await openLedger(store, { create: false })
      try {
        return (await ledger.getRun(runId))?.status
      } finally {
        await ledger.close()
      }
    },
    calls: (what) =>
      readFileSync(file('calls.txt'), 'utf8')
        .split('\n')
        .filter((line) => line === what).length,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
