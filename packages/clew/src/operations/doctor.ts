import type { Ledger } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { retentionReport } from './retention.ts'

const check = z.object({
  name: z.string(),
  status: z.enum(['ok', 'warn', 'fail']),
  detail: z.string(),
  /** What to do now; null when nothing is. */
  hint: z.string().nullable(),
})

const place = z.object({ runId: z.string(), seq: z.int(), path: z.string(), kind: z.string() })
const scan = z.object({
  events: z.int(),
  /** The first thousand. */
  places: z.array(place).readonly(),
  total: z.int(),
  byKind: z.record(z.string(), z.int()),
  /** Commands that erase them. */
  erase: z.array(z.string()).readonly(),
})

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
    /** Size, growth and a proposed policy; null where the store does not open. */
    retention: retentionReport.nullable(),
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
