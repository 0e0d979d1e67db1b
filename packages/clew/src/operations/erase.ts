import { ClewError, type EraseTarget } from '@clew/ledger'
import { z } from 'zod'
import { answering } from './operation.ts'
import { runId } from './schemas.ts'

const kept = z.discriminatedUnion('reason', [
  z.object({ reason: z.literal('held'), runId: z.string(), holdId: z.string() }),
  z.object({ reason: z.literal('others'), runId: z.string(), events: z.int() }),
  z.object({ reason: z.literal('shared'), values: z.int() }),
])

const certificate = z.object({
  certificate: z.literal('clew.erasure'),
  version: z.literal(1),
  workspace: z.string(),
  target: z.record(z.string(), z.unknown()),
  by: z.string().nullable(),
  reason: z.string().nullable(),
  erasedAt: z.string(),
  events: z.int(),
  payloads: z.int(),
  values: z.int(),
  kept: z.array(kept).readonly(),
  runs: z.array(z.object({ runId: z.string(), events: z.int(), seq: z.int(), hash: z.string() })).readonly(),
  proof: z.object({ runId: z.string(), eventId: z.string(), seq: z.int(), hash: z.string() }),
  /** Ed25519 over the canonical text of all the rest; null where no key was given. */
  signature: z.string().nullable(),
  publicKey: z.string().nullable(),
})

const input = z.object({
  subject: z
    .string()
    .min(1)
    .optional()
    .describe('everything about this subject, with forks, child runs and memory'),
  paths: z
    .array(z.string().min(1))
    .max(50)
    .optional()
    .describe("other payload fields that hold the subject's id, such as customer.id; separated by commas"),
  runId: runId.optional().describe('one run with its child runs'),
  withForks: z.boolean().optional().describe('also the runs that were forked from it'),
  eventId: z.string().min(1).optional().describe('one event'),
  reason: z
    .string()
    .min(1)
    .max(2000)
    .optional()
    .describe('why, for the compliance log; it must not contain what is erased'),
  by: z.string().min(1).max(200).optional().describe('who does it'),
  dryRun: z.boolean().optional().describe('say what would go, and change nothing'),
  rewrite: z
    .boolean()
    .optional()
    .describe(
      'write whole tables anew, so that no byte is left in their pages (PostgreSQL locks them meanwhile)',
    ),
})

/** Exactly one of the three. */
export function toEraseTarget({
  subject,
  paths,
  runId: id,
  withForks,
  eventId,
}: z.output<typeof input>): EraseTarget {
  const named = [subject, id, eventId].filter((each) => each !== undefined)
  if (named.length === 1) {
    if (subject !== undefined) return { subject, paths }
    return id === undefined ? { eventId: eventId as string } : { runId: id, withForks }
  }
  throw new ClewError(
    'bad_option',
    'An erasure is about one subject, one run or one event, and none or several were named',
    'Give one of --subject, --run and --event; nothing was erased.',
    { option: 'subject' },
  )
}

export const erase = answering({
  name: 'erase',
  summary: 'Erase the stored payloads of a subject, a run or an event permanently',
  scope: 'admin',
  surfaces: ['cli', 'rest'],
  rest: { method: 'post', path: '/v1/erase' },
  input,
  output: z.object({
    events: z.int(),
    runs: z.int(),
    payloads: z.int(),
    values: z.int(),
    memory: z.int(),
    searchRows: z.int(),
    kept: z.array(kept).readonly(),
    unfinished: z.string().nullable(),
    dryRun: z.boolean(),
    certificate: certificate.nullable(),
  }),
  example: {
    command: 'clew erase --subject customer-7 --reason letter-12 --by dpo --certificate erased.json',
    input: { subject: 'customer-7', reason: 'letter-12', by: 'dpo' },
  },
  cli: {
    group: 'Control',
    options: {
      subject: '--subject <id>',
      paths: '--path <paths>',
      runId: '--run <id>',
      withForks: '--with-forks',
      eventId: '--event <id>',
      reason: '--reason <text>',
      by: '--by <who>',
      dryRun: '--dry-run',
      rewrite: '--rewrite',
    },
    flags: {
      '--certificate <file>': 'write what was erased to this file, signed',
      '--key <file>': 'the signing key; default: beside the ledger, made on first use',
      '-y, --yes': 'do not ask back',
    },
  },
  async run(ledger, given, { onProgress, signer } = {}) {
    const { reason, by, dryRun, rewrite } = given
    const report = await ledger.erase(toEraseTarget(given), {
      reason,
      by,
      dryRun,
      rewrite,
      signer,
      onProgress,
    })
    return {
      ...report,
      certificate: report.certificate && { ...report.certificate, target: { ...report.certificate.target } },
    }
  },
})
