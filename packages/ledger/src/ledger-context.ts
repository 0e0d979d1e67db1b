import { type AppendQueue, createAppendQueue } from './append/append-queue.ts'
import type { Price } from './billing/cost.ts'
import { type Codecs, createCodecs, plainCodecs } from './event/codecs.ts'
import type { HeadChecker } from './verify/heads.ts'
import { createIdentities, type Identities } from './event/identity.ts'
import type { LedgerOptions } from './ledger.ts'
import { createPayloadReader, type PayloadReader } from './read/payload-reader.ts'
import { followPolicy } from './policy/follow-policy.ts'
import { type ActivePolicy, withPolicy, type WorkspacePolicy } from './policy/workspace-policy.ts'
import type { Ports } from './ports.ts'
import { createPreparer, type Preparer } from './append/prepare.ts'
import { createRedactor, type Redactor } from './redact/redact.ts'
import type { Store } from './store/store.ts'
import { createVault, type Vault, type VaultCipher } from './vault/vault.ts'

/** Dependencies of `createLedger`; `openLedger` provides them. */
export interface LedgerParts {
  readonly store: Store
  readonly ports: Ports
  /** Secret of this ledger, kept outside its store: for fingerprints and for judging sameness. */
  readonly secret: string
  readonly heads: HeadChecker
  /** Prices of model calls (V7); without it no cost is added to events. */
  readonly price?: Price | undefined
  /**
   * Policies of the workspaces, as read at opening (`readPolicies`) and followed from then on. Without it, no
   * workspace has one.
   */
  readonly policies?: ReadonlyMap<string, ActivePolicy> | undefined
  /** Keys of the vault, which keeps the originals of redacted secrets; without it none are kept. */
  readonly vault?: VaultCipher | undefined
}

/** How values go in and come out: rich, or as the JSON that is stored. */
interface PayloadPipeline {
  readonly codecs: Codecs
  readonly preparer: Preparer
  readonly reader: PayloadReader
}

/** State shared by all views of a workspace. */
interface WorkspaceContext {
  readonly redactor: Redactor
  readonly identities: Identities
  /** Undefined when the redactor is what the workspace asks for by now, else a promise for that. */
  readonly followed: () => Promise<void> | undefined
  readonly vault: Vault | undefined
  readonly rich: PayloadPipeline
  plain(): PayloadPipeline
}

/** State shared by all views of one opened ledger. */
export interface LedgerContext extends LedgerParts {
  readonly options: LedgerOptions
  readonly queue: AppendQueue
  /** Keyed hash of a secret, as its placeholder carries it (P2). */
  readonly fingerprint: (secret: string) => string
  contextOf(workspace: string): WorkspaceContext
  /** Sets the policy of the workspace. */
  usePolicy(workspace: string, policy: WorkspacePolicy): void
  /** Drops cached values: some were deleted from the store. */
  forgetValues(): void
  /** Ends what views do in the background. */
  readonly stops: Set<() => Promise<void>>
  closed: boolean
}

export function createLedgerContext(parts: LedgerParts, options: LedgerOptions): LedgerContext {
  const { store, ports, secret, price, policies, vault: cipher } = parts
  const fingerprint = (text: string): string => ports.sha256(`${secret}\n${text}\n${secret}`).slice(0, 10)
  const codecs = createCodecs(options.codecs)
  const reader = createPayloadReader(store, codecs)
  let plainReader: PayloadReader | undefined

  const openedMs = ports.now()
  const redactorFor = (policy: WorkspacePolicy, digest = fingerprint): Redactor =>
    createRedactor(withPolicy(options.redact, policy) ?? {}, digest, ports.now)
  // A redactor with options is made at opening, where bad options can be refused; the default one at first use, since
  // readers need none and its patterns take longer to compile than reading a page of runs.
  let usual = options.redact ? redactorFor({}) : undefined

  function createWorkspaceContext(
    workspace: string,
  ): WorkspaceContext & { use(policy: WorkspacePolicy): void } {
    const known = policies?.get(workspace) ?? { policy: {}, seq: 0 }
    const { policy } = known
    const vault = cipher && createVault({ store, cipher, workspace })
    // Originals are cached per workspace: a placeholder copied to another workspace is not restored there.
    const digest = vault
      ? (text: string): string => {
          const print = fingerprint(text)
          vault.remember(print, text)
          return print
        }
      : fingerprint
    const use = (next: WorkspacePolicy): void =>
      void (asked = next.redact || vault ? redactorFor(next, digest) : undefined)
    let asked = policy.redact || vault ? redactorFor(policy, digest) : undefined
    const current = (): Redactor => asked ?? (usual ??= redactorFor({}))
    const redactor: Redactor = {
      value: (value) => current().value(value),
      text: (text) => current().text(text),
      stream: () => current().stream(),
    }
    const identities = createIdentities(ports.sha256, secret, redactor)
    const side = (own: Codecs, its: PayloadReader): PayloadPipeline => ({
      codecs: own,
      preparer: createPreparer({ ports, codecs: own, redactor, identities, macKey: secret, price, vault }),
      reader: its,
    })
    let plain: PayloadPipeline | undefined
    return {
      redactor,
      identities,
      vault,
      // With redaction switched off, no policy of the workspace applies.
      followed:
        policies && options.redact !== false
          ? followPolicy({ store, workspace, now: ports.now, use, known: { ...known, readMs: openedMs } })
          : () => undefined,
      rich: side(codecs, reader),
      plain() {
        const own = plainCodecs(codecs)
        plainReader ??= createPayloadReader(store, own)
        return (plain ??= side(own, plainReader))
      },
      use,
    }
  }

  const known = new Map<string, ReturnType<typeof createWorkspaceContext>>()
  function contextOf(workspace: string): ReturnType<typeof createWorkspaceContext> {
    const sides = known.get(workspace) ?? createWorkspaceContext(workspace)
    known.set(workspace, sides)
    return sides
  }
  return {
    ...parts,
    options,
    queue: createAppendQueue(store, ports),
    fingerprint,
    contextOf,
    usePolicy: (workspace, policy) => contextOf(workspace).use(policy),
    forgetValues() {
      reader.forget()
      plainReader?.forget()
    },
    stops: new Set(),
    closed: false,
  }
}
