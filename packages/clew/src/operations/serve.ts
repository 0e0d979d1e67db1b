import { once } from 'node:events'
import { z } from 'zod'
import { streaming } from './operation.ts'

export const serve = streaming({
  name: 'serve',
  summary: 'Serve the ledger: page, HTTP, sockets and ingest on one port',
  scope: 'control',
  surfaces: ['cli'],
  input: z.object({
    port: z.int().min(0).max(65_535).default(2539).describe('port to listen on; 0 for any that is free'),
    host: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .describe('address to listen on; clients on other machines need tokens'),
    tokens: z.boolean().optional().describe('require a token from clients on this machine, too'),
    origin: z
      .string()
      .regex(/^https?:\/\/[^/]+$/)
      .optional()
      .describe('another origin whose pages may call the API, such as https://app.example.org'),
    trustProxy: z
      .boolean()
      .optional()
      .describe('clients come through one proxy only: their addresses are read from x-forwarded-for'),
    page: z.boolean().default(true).describe('without the page'),
    housekeeping: z
      .boolean()
      .default(true)
      .describe('without retention, sweep of orphans and index catch-up every hour'),
    works: z.boolean().optional().describe('also claim and run the runs of the agents here'),
    log: z
      .enum(['debug', 'info', 'warn', 'error', 'silent'])
      .default('warn')
      .describe('log level on standard error: debug, info (every request), warn, error or silent'),
  }),
  output: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('listening'),
      url: z.string(),
      page: z.boolean().describe('whether the page is served'),
      agents: z.array(z.string()).readonly().describe('agents whose runs can be resumed here'),
    }),
    z.object({ type: z.literal('closed') }),
  ]),
  example: { command: 'clew serve --agent ./agents.ts', input: {} },
  cli: {
    group: 'Begin',
    options: {
      port: '--port <port>',
      host: '--host <address>',
      tokens: '--tokens',
      origin: '--origin <origin>',
      trustProxy: '--trust-proxy',
      page: '--no-page',
      housekeeping: '--no-housekeeping',
      log: '--log <level>',
    },
    flags: {
      '--worker <module>': 'the same as --agent, and this process is a worker of its agents as well',
      '--agent <module>': 'file or package that exports agents: their runs can be resumed here',
      '--mode <switches>':
        'switches that are on: read, or a list of write, resume and replay; default CLEW_MODE, else all',
    },
  },
  async *run(ledger, { page, log, housekeeping, works, ...where }, { agents, signal } = {}) {
    const [
      { createLog, startServer },
      { createControl },
      { operations },
      { servedDemo },
      { findPage },
      { readVersion },
      { ingestStarter },
      { signingKeyOf },
      { startHousekeeping, startScheduler, startWorker },
      { serveEndpoint },
    ] = await Promise.all([
      import('@clew/server'),
      import('../control/create-control.ts'),
      import('../operations.ts'),
      import('../demo/served-demo.ts'),
      import('../find-page.ts'),
      import('../read-version.ts'),
      import('../start-ingest.ts'),
      import('../second-opening.ts'),
      import('@clew/runtime'),
      import('../mcp/serve-endpoint.ts'),
    ])
    const folder = page ? findPage() : null
    const serverLog = createLog(log)
    const server = await startServer({
      ledger,
      operations: [...operations, ...servedDemo()],
      controlOf: (view) => createControl(view, { agents }),
      page: folder,
      log: serverLog,
      mcp: serveEndpoint((error) => serverLog.debug({ err: error }, 'a call over MCP failed')),
      version: readVersion(),
      signingKey: signingKeyOf(ledger),
      startIngest: ingestStarter(ledger, {}, log),
      ...where,
    })
    const upkeep =
      housekeeping && ledger.mode.write
        ? startHousekeeping(ledger, {
            onRound: (round) => serverLog.info({ round }, 'housekeeping'),
            onError: (err) => serverLog.warn({ err }, 'housekeeping failed'),
          })
        : undefined
    const worker =
      works && agents
        ? await startWorker({
            ledger,
            agents: agents.names.map((agent) => agents.of({ runId: '', agent })),
            onNotice: (notice) => serverLog.info({ notice }, 'worker'),
          })
        : undefined
    const scheduler = ledger.mode.write
      ? startScheduler(ledger, {
          onError: (err, scheduleId) => serverLog.warn({ err, scheduleId }, 'schedule failed'),
        })
      : undefined
    try {
      yield {
        type: 'listening' as const,
        url: server.url,
        page: folder !== null,
        agents: agents?.names ?? [],
      }
      if (signal && !signal.aborted) await once(signal, 'abort')
    } finally {
      await worker?.stop()
      await scheduler?.stop()
      await upkeep?.stop()
      await server.close()
    }
    yield { type: 'closed' as const }
  },
})
