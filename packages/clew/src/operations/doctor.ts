import type { Ledger } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { retentionReport } from './retention.ts'

const check = z.object({
  name: z.string(),
  status: z.enum(['ok', 'warn', 'fail']),
  detail: z.string(),
  hint: z.string().nullable().describe('what to do now; null if nothing'),
})
export type Check = z.output<typeof check>

const place = z.object({ runId: z.string(), seq: z.int(), path: z.string(), kind: z.string() })
const scan = z.object({
  events: z.int(),
  places: z.array(place).readonly().describe('the first thousand'),
  total: z.int(),
  byKind: z.record(z.string(), z.int()),
  erase: z.array(z.string()).readonly().describe('commands that erase the runs of `places`'),
})
export type StoredSecret = z.output<typeof place>
export type ScanReport = z.output<typeof scan>

export const doctor = answering({
  name: 'doctor',
  summary:
    'Check the environment, the store and the newest run; report size, growth and a suggested retention policy',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'get', path: '/v1/doctor' },
  input: z.object({
    scan: z
      .boolean()
      .optional()
      .describe('also read every event and report secrets that are stored in clear'),
  }),
  output: z.object({
    ok: z.boolean(),
    checks: z.array(check),
    retention: retentionReport
      .nullable()
      .describe('size, growth and a proposed policy; null if the store does not open'),
    scan: scan.nullable(),
  }),
  example: { command: 'clew doctor', input: {} },
  cli: { group: 'Begin', options: { scan: '--scan' } },
  async run(ledger: Ledger, input, { onProgress } = {}) {
    const { diagnose } = await import('../diagnose.ts')
    const { scanSecrets } = await import('../scan-secrets.ts')
    const report = await diagnose(ledger.url, (look) => look(ledger), 'of a workspace')
    const found = input.scan === true ? await scanSecrets(ledger, onProgress) : null
    return { ...report, ok: report.ok && (found?.total ?? 0) === 0, scan: found }
  },
})
