import { findRun } from '../store/find-runs.ts'
import { AUDIT_RUN_ID, auditEvent } from '../append/audit-run.ts'
import { createCodecs } from '../event/codecs.ts'
import { ClewError } from '../errors.ts'
import { textOf } from '../fold/fields.ts'
import { isObject } from '../json.ts'
import type { Ledger } from '../ledger.ts'
import { createPayloadReader } from '../read/payload-reader.ts'
import { assertTame } from '../redact/probe-pattern.ts'
import { compilePath } from '../redact/path-rule.ts'
import type { RedactionRule, RedactOptions } from '../redact/redact.ts'
import { parsePolicy, type RetentionPolicyInput } from '../retention/policy.ts'
import type { Store } from '../store/store.ts'

/** A rule as it can be stored: patterns as text. */
export interface StoredRule {
  readonly kind: string
  readonly key?: string | undefined
  readonly path?: string | undefined
  readonly pattern?: string | undefined
}

/** Policy of a workspace, in force for every process that opens it. */
export interface WorkspacePolicy {
  /** Applied in addition to the redaction that the process asks for. */
  readonly redact?:
    | {
        readonly policies?: readonly ('secrets' | 'personal')[] | undefined
        readonly rules?: readonly StoredRule[] | undefined
      }
    | undefined
  /** Reads by operations (command line, HTTP, MCP) stand in the compliance log (V8). */
  readonly auditReads?: boolean | undefined
  /** Retention policy of `gc` if the ledger was opened without one (R10). */
  readonly retention?: RetentionPolicyInput | undefined
  /** Namespaces of memory, with those below them, in which agents may write over MCP; none by default (A7). */
  readonly agentMemory?: readonly string[] | undefined
}

const KNOWN = new Set(['redact', 'auditReads', 'retention', 'agentMemory'])
const POLICIES = ['secrets', 'personal'] as const

const bad = (what: string, hint: string): ClewError =>
  new ClewError('bad_option', what, `${hint} Nothing was changed.`, { option: 'policy' })

function checkPolicy(given: unknown, now: () => number): WorkspacePolicy {
  if (!isObject(given))
    throw bad('A policy is an object', 'Give { redact, auditReads, retention, agentMemory }.')
  const strange = Object.keys(given).find((key) => !KNOWN.has(key))
  if (strange !== undefined)
    throw bad(`A policy has no ${strange}`, 'It has redact, auditReads, retention and agentMemory.')
  const { redact, auditReads, retention, agentMemory = [] } = given
  if (
    !Array.isArray(agentMemory) ||
    agentMemory.some((each) => typeof each !== 'string' || each === '' || each.endsWith('/'))
  )
    throw bad('agentMemory is not a list of namespaces', 'Give names such as notes or facts/people.')
  if (retention !== undefined) parsePolicy(retention)
  if (auditReads !== undefined && typeof auditReads !== 'boolean')
    throw bad('auditReads is neither true nor false', 'Give one of them.')
  if (redact === undefined) return given
  if (!isObject(redact)) throw bad('redact is not an object', 'Give { policies, rules }.')
  const { policies = [], rules = [] } = redact
  if (!Array.isArray(policies) || policies.some((each) => !POLICIES.includes(each as 'secrets')))
    throw bad('redact.policies is not a list of known names', `Use ${POLICIES.join(' and ')}.`)
  if (!Array.isArray(rules))
    throw bad('redact.rules is not a list', 'Give rules with kind and key, path or pattern.')
  for (const { kind, key, pattern } of (rules as StoredRule[]).map(toRule))
    for (const each of [key, pattern]) if (each) assertTame(kind, each, now)
  return given
}

function toRule(rule: StoredRule): RedactionRule {
  const { kind, key, path, pattern } = rule
  const texts = [key, path, pattern].filter((each) => each !== undefined)
  if (
    typeof kind !== 'string' ||
    !/^[a-z0-9-]+$/.test(kind) ||
    texts.length === 0 ||
    texts.some((each) => typeof each !== 'string')
  )
    throw bad(
      'A redaction rule is not usable',
      'Give a kind of small letters, and a key, a path or a pattern as text.',
    )
  try {
    if (path !== undefined) compilePath(path)
    return {
      kind,
      ...(key !== undefined && { key: new RegExp(key, 'i') }),
      ...(path !== undefined && { path }),
      ...(pattern !== undefined && { pattern: new RegExp(pattern) }),
    }
  } catch (cause) {
    if (cause instanceof ClewError) throw cause
    throw bad(
      `The redaction rule ${kind} has a pattern that cannot be read`,
      'Write it as a regular expression.',
    )
  }
}

/** Merges the options of the opener with the policy of the workspace. A switch that either turns off is off. */
export function withPolicy(
  given: RedactOptions | false | undefined,
  { redact: stored }: WorkspacePolicy,
): RedactOptions | false | undefined {
  if (given === false || stored === undefined) return given
  const { policies = ['secrets'], rules = [], ...rest } = given ?? {}
  return {
    ...rest,
    policies: [...new Set([...policies, ...(stored.policies ?? [])])],
    rules: [...rules, ...(stored.rules ?? []).map(toRule)],
  }
}

const TYPES = ['system.policy_changed']
const PAGE = 200

/** Policy of a workspace and the seq of its audit run at which it was read. */
export interface ActivePolicy {
  readonly policy: WorkspacePolicy
  readonly seq: number
}

interface PolicyChange extends ActivePolicy {
  /** Actor and time of the last change; null if the policy was never set. */
  readonly by: string | null
  readonly at: string | null
}

/** The last change of the policy after an event of the audit run. */
export async function readPolicyChange(store: Store, workspace: string, after = 0): Promise<PolicyChange> {
  const auditRun = { workspace, runId: AUDIT_RUN_ID }
  // Later events are not read, so that the returned seq matches the policy.
  const upToSeq = (await findRun(store, auditRun))?.seq ?? 0
  let change: PolicyChange = { policy: {}, by: null, at: null, seq: upToSeq }
  if (upToSeq <= after) return change
  const reader = createPayloadReader(store, createCodecs(undefined))
  for (let afterSeq = after; ; ) {
    const page = await store.readRun(auditRun, { afterSeq, upToSeq, limit: PAGE, types: TYPES })
    for (const event of await reader.toPlainEvents(page)) {
      const { policy: given, by } = event.payload
      if (isObject(given) && Object.keys(given).every((key) => KNOWN.has(key)))
        change = { ...change, policy: given, by: textOf(by), at: event.ledger.recordedAt }
    }
    if (page.length < PAGE) return change
    afterSeq = page.at(-1)?.seq ?? afterSeq
  }
}

/** The policies of all workspaces, read when a store is opened. */
export async function readPolicies(store: Store): Promise<ReadonlyMap<string, ActivePolicy>> {
  const found = new Map<string, ActivePolicy>()
  for (const workspace of (await store.info('workspaces')).workspaces)
    found.set(workspace, await readPolicyChange(store, workspace))
  return found
}

export interface PolicyAccess {
  /** Policy in force for every process that opens the workspace. */
  policy(): Promise<WorkspacePolicy>
  /** Replaces the policy. Redaction follows it immediately here, in other processes within a second. */
  setPolicy(
    policy: WorkspacePolicy,
    options?: { by?: string | undefined; reason?: string | undefined },
  ): Promise<void>
}

interface PolicyParts {
  readonly store: Store
  readonly workspace: string
  readonly now: () => number
  readonly ledger: () => Pick<Ledger, 'record'>
  readonly use: (policy: WorkspacePolicy) => void
}

export const createPolicyAccess = ({ store, workspace, now, ledger, use }: PolicyParts): PolicyAccess => ({
  policy: async () => (await readPolicyChange(store, workspace)).policy,
  async setPolicy(policy, { by, reason } = {}) {
    const checked = checkPolicy(policy, now)
    const payload = {
      policy: checked,
      ...(by !== undefined && { by }),
      ...(reason !== undefined && { reason }),
    }
    await ledger().record(auditEvent('system.policy_changed', payload))
    use(checked)
  },
})
