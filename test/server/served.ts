import { openLedger, type OpenLedgerOptions } from 'clew'
import type { Ledger } from '@clew/ledger'
import { createLog, type RunningServer, type StartOptions, startServer } from '@clew/server'
import { createControl } from '../../packages/clew/src/control/create-control.ts'
import { serveEndpoint } from '../../packages/clew/src/mcp/serve-endpoint.ts'
import { operations } from '../../packages/clew/src/operations.ts'

export interface Served {
  readonly ledger: Ledger
  readonly server: RunningServer
  fetch(path: string, options?: RequestInit & { readonly token?: string | undefined }): Promise<Response>
  close(): Promise<void>
}

/** A server with all operations over a ledger of its own, on any port. */
export async function serve(
  options: Partial<StartOptions> = {},
  prepare: (ledger: Ledger) => Promise<unknown> = async () => {},
  url = 'memory:',
  ledgerOptions: OpenLedgerOptions = {},
): Promise<Served> {
  const ledger = await openLedger(url, ledgerOptions)
  await prepare(ledger)
  const server = await startServer({
    ledger,
    operations,
    controlOf: (view) => createControl(view),
    mcp: serveEndpoint(() => {}),
    port: 0,
    log: createLog('silent'),
    ...options,
  })
  return {
    ledger,
    server,
    fetch: (path, { token, headers, ...init } = {}) =>
      fetch(new URL(path, server.url), {
        ...init,
        headers: { ...(headers as object), ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      }),
    async close() {
      await server.close()
      await ledger.close()
    },
  }
}

/** A run with a step, a message and an end. */
export async function recordRun(ledger: Ledger, runId: string): Promise<void> {
  const at = (eventType: string, payload: Record<string, unknown>) => ({
    eventType,
    correlationId: runId,
    payload,
  })
  await ledger.append([
    at('system.workflow_started', { agent: 'tester', input: { q: 1 } }),
    at('execution.step_started', { stepId: 'plan#0', attempt: 1, name: 'plan', input: { q: 1 } }),
    at('execution.message', { role: 'assistant', content: 'hello' }),
    at('execution.step_completed', { stepId: 'plan#0', attempt: 1, output: { a: 2 } }),
    at('system.workflow_completed', { output: 'done' }),
  ])
}
