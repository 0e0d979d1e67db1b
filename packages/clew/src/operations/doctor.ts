import type { Ledger } from '@clew/ledger'
import { z } from 'zod'
import { diagnose } from '../diagnose.ts'
import { answering } from './operation.ts'

const check = z.object({
  name: z.string(),
  status: z.enum(['ok', 'warn', 'fail']),
  detail: z.string(),
  /** What to do now; null when nothing is. */
  hint: z.string().nullable(),
})

export const doctor = answering({
  name: 'doctor',
  summary: 'Look after the machine, the store and the newest run',
  scope: 'admin',
  surfaces: ['cli'],
  input: z.object({}),
  output: z.object({ ok: z.boolean(), checks: z.array(check) }),
  example: { command: 'clew doctor', input: {} },
  cli: { group: 'Begin' },
  run: (ledger: Ledger) => diagnose(ledger.url, (look) => look(ledger)),
})
