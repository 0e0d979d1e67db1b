import type { Ledger, RunState, StateOperation } from '@clew/ledger'
import type { Channels } from '../graph/channel.ts'
import { advanceDigests, type Digests, digestsOf } from '../graph/digests.ts'
import {
  advanceVersions,
  restoreState,
  type State,
  type StepWrite,
  type Versions,
} from '../graph/merge-writes.ts'
import { sizeOf } from './size-of.ts'

/** A graph's state with all that goes along with it; never changed, each superstep makes the next one. */
export interface GraphState {
  readonly state: State
  readonly versions: Versions
  /** Undefined where nothing is recorded, and so nothing is compared. */
  readonly digests: Digests | undefined
  /** About how many characters of JSON the state has. */
  readonly size: number
  /** Supersteps and characters written since the last whole state in the record. */
  readonly since: { readonly supersteps: number; readonly size: number }
}

const MIN_SIZE = 16 * 1024
const MIN_SUPERSTEPS = 128
/** Folding passes through as many supersteps per whole state as cost about what reading that state costs. */
const SIZE_PER_SUPERSTEP = 512

/** True if the changes since the last whole state are larger than a whole state. */
export const isWholeDue = ({ size, since }: GraphState): boolean =>
  since.size >= Math.max(MIN_SIZE, size) ||
  since.supersteps >= Math.max(MIN_SUPERSTEPS, size / SIZE_PER_SUPERSTEP)

export const afterWhole = (state: GraphState): GraphState => ({ ...state, since: { supersteps: 0, size: 0 } })

export function openState(
  channels: Channels,
  folded: RunState | null,
  ledger: Ledger | undefined,
): GraphState {
  const state = restoreState(channels, folded?.state ?? {}, folded?.versions)
  return {
    state,
    versions: folded?.versions ?? {},
    digests: ledger && digestsOf(channels, state, (value) => ledger.digest(value)),
    size: sizeOf(state),
    since: { supersteps: 0, size: 0 },
  }
}

/** The state after these operations; `merged` is what the channels made of them. */
export function advance(
  channels: Channels,
  before: GraphState,
  merged: { readonly state: State; readonly operations: readonly StateOperation[] },
  writes: readonly StepWrite[],
  ledger: Ledger | undefined,
): GraphState {
  const { operations, state } = merged
  let added = 0
  let size = before.size
  for (const { channel, op } of operations) {
    if (op === 'append') {
      const grown = sizeOfAppended(before.state[channel], state[channel])
      added += grown
      size += grown
    } else {
      const now = sizeOf(state[channel])
      added += now
      size += now - sizeOf(before.state[channel])
    }
  }
  const { supersteps, size: written } = before.since
  return {
    state,
    versions: advanceVersions(before.versions, operations),
    digests:
      before.digests &&
      ledger &&
      advanceDigests(channels, before.digests, { state: before.state, operations, writes }, (value) =>
        ledger.digest(value),
      ),
    size,
    since: { supersteps: supersteps + 1, size: written + added },
  }
}

function sizeOfAppended(before: unknown, after: unknown): number {
  if (!Array.isArray(before) || !Array.isArray(after)) return sizeOf(after)
  let size = 0
  for (let i = before.length; i < after.length; i++) size += sizeOf(after[i])
  return size
}
