import { AUDIT_RUN_ID } from '../append/audit-run.ts'
import { canonicalText } from '../hash/canonical.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { HeadChecker } from '../verify/heads.ts'
import type { JsonValue } from '../json.ts'
import type { EraseOptions, EraseReport, EraseTarget, ErasureCertificate } from './erase-types.ts'
import type { ErasurePlan } from './plan-erasure.ts'

interface CertificateParts {
  readonly report: EraseReport
  readonly workspace: string
  readonly target: EraseTarget
  readonly options: EraseOptions
  readonly audit: ClewEvent
  readonly plan: ErasurePlan
}

/** Signed text: the certificate without its signature. */
const textOf = ({ signature: _, ...rest }: ErasureCertificate): string =>
  canonicalText(JSON.parse(JSON.stringify(rest)) as JsonValue)

export async function signCertificate(parts: CertificateParts): Promise<ErasureCertificate> {
  const { report, workspace, target, options, audit, plan } = parts
  const { seq, hash, recordedAt } = audit.ledger
  const unsigned: ErasureCertificate = {
    certificate: 'clew.erasure',
    version: 1,
    workspace,
    target,
    by: options.by ?? null,
    reason: options.reason ?? null,
    erasedAt: recordedAt,
    events: report.events,
    payloads: report.payloads,
    values: report.values,
    kept: report.kept,
    runs: [...plan.runs.values()].map(({ run, events }) => ({
      runId: run.summary.runId,
      events: events.size,
      seq: run.seq,
      hash: run.hash,
    })),
    proof: { runId: AUDIT_RUN_ID, eventId: audit.eventId, seq, hash },
    signature: null,
    publicKey: options.signer?.publicKey ?? null,
  }
  return options.signer ? { ...unsigned, signature: await options.signer.sign(textOf(unsigned)) } : unsigned
}

/** Whether a certificate is as it was signed, by the key it names. */
export const checkCertificate = async (
  checker: HeadChecker,
  certificate: ErasureCertificate,
): Promise<boolean> =>
  certificate.signature !== null &&
  certificate.publicKey !== null &&
  checker.verify(textOf(certificate), certificate.signature, certificate.publicKey)
