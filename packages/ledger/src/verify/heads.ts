import { findRun, findSeals } from '../store/find-runs.ts'
import { ClewError } from '../errors.ts'
import { isObject } from '../json.ts'
import type { Store } from '../store/store.ts'
import type { Problem, ProblemKind } from './verify.ts'

/** Last seq and hash of a run at a time. A copy kept elsewhere proves that no later event was cut off (L6). */
export interface Head {
  readonly runId: string
  readonly seq: number
  readonly hash: string
}

export interface SignedHeads {
  readonly workspace: string
  readonly takenAt: string
  readonly heads: readonly Head[]
  /** Ed25519 over `headsText`, base64. */
  readonly signature: string
  readonly publicKey: string
}

export interface HeadSigner {
  /** The public key as it is written beside the signature. */
  readonly publicKey: string
  sign(text: string): Promise<string>
}

export interface HeadChecker {
  verify(text: string, signature: string, publicKey: string): Promise<boolean>
}

/** The exact text that is signed. */
export const headsText = ({
  workspace,
  takenAt,
  heads,
}: Omit<SignedHeads, 'signature' | 'publicKey'>): string =>
  JSON.stringify(['clew heads', workspace, takenAt, heads.map(({ runId, seq, hash }) => [runId, seq, hash])])

export function parseSignedHeads(text: string): SignedHeads {
  try {
    const data: unknown = JSON.parse(text)
    if (isObject(data) && Array.isArray(data['heads']) && typeof data['signature'] === 'string')
      return data as unknown as SignedHeads
  } catch {
    // Throws below, with the same error as for JSON of another shape.
  }
  throw new ClewError(
    'bad_option',
    'This is not a file of signed heads',
    'Give the file that `clew verify --sign-heads FILE` wrote.',
  )
}

/** Compared with heads of another workspace, every run would look removed. */
export function assertSameWorkspace(signed: SignedHeads, workspace: string): void {
  if (signed.workspace === workspace) return
  throw new ClewError(
    'bad_option',
    `These heads were signed for workspace ${signed.workspace}, this is ${workspace}`,
    'Name the workspace they belong to (--workspace), or give other heads.',
    { option: 'heads' },
  )
}

/** Compares the runs with the heads that were signed for them; `only` looks at one. */
export async function checkHeads(
  store: Store,
  checker: HeadChecker,
  signed: SignedHeads,
  { publicKey = signed.publicKey, only }: { publicKey?: string | undefined; only?: string | undefined },
): Promise<Problem[]> {
  const { workspace } = signed
  if (!(await checker.verify(headsText(signed), signed.signature, publicKey)))
    return [
      {
        runId: '',
        seq: null,
        problem: 'bad_signature',
        detail: 'the signature of the heads does not fit them',
      },
    ]
  const problems: Problem[] = []
  for (const { runId, seq, hash } of signed.heads) {
    if (only !== undefined && runId !== only) continue
    const add = (at: number | null, problem: ProblemKind, detail: string): void =>
      void problems.push({ runId, seq: at, problem, detail })
    const key = { workspace, runId }
    if (!(await findRun(store, key))) add(null, 'run_missing', `the signed heads have it up to seq ${seq}`)
    else {
      const [event] = await store.readRun(key, { afterSeq: seq - 1, upToSeq: seq, limit: 1 })
      const seal = event
        ? undefined
        : (await findSeals(store, { workspace, runId })).find(
            ({ fromSeq, toSeq }) => fromSeq <= seq && toSeq >= seq,
          )
      // Inside a pruned range there is nothing left to compare with; the seal itself is judged with the run.
      const found = event?.hash ?? (seal && (seal.toSeq === seq ? seal.headHash : hash))
      if (found === undefined) add(seq, 'truncated', `the signed heads have it up to seq ${seq}`)
      else if (found !== hash) add(seq, 'head_mismatch', 'the event here is not the one that was signed')
    }
  }
  return problems
}
