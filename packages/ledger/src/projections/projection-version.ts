import type { Slot, Slots } from '../store/slots.ts'

/**
 * Raised when the folds of runs and steps give other rows than before: 2 since runs tell what they cost (V7), 3 since
 * they tell their last checkpoint and when they are due, and since a completion may be the start as well, 4 since a run goes on
 * with one answer of several, 5 since a kept replay says what it is, 6 since a start that comes late says whose the run is,
 * 7 since a session says what it answers, 8 since a run that was taken for dead runs on with its next step,
 * 9 since a run has tags and scores, 10 since messages of a state count, `execution.completed` ends a recorded run, and an exported run
 * and its steps start by the exporter's clock, 11 since a step that is exported after the calls inside it is not counted again, 12 since tool
 * calls in what an agent says count and a run names its models.
 */
export const PROJECTION_VERSION = 12

/** Which folds made the stored rows, and how far a rebuild by newer ones has come. */
export interface ProjectionState {
  readonly version: number
  /** Runs up to the cursor are done; null at the beginning. */
  readonly rebuilding: { readonly version: number; readonly cursor: string | null } | null
}

/** The slot of this state. A database gets it when it is created, so that a later version of the folds is noticed. */
export const NEW_PROJECTIONS: Slot = {
  workspace: '',
  name: 'projections',
  value: { version: PROJECTION_VERSION, rebuilding: null },
}

export async function readProjectionState(slots: Slots): Promise<ProjectionState & { slotVersion: number }> {
  const [slot] = await slots.list(NEW_PROJECTIONS.workspace, NEW_PROJECTIONS.name)
  const value = (slot?.value ?? NEW_PROJECTIONS.value) as unknown as ProjectionState
  return { ...value, slotVersion: slot?.version ?? 0 }
}

/** If several rebuilds run concurrently, the last write wins: each one rebuilds all rows. */
export async function markProjections(slots: Slots, { version, rebuilding }: ProjectionState): Promise<void> {
  for (;;) {
    const { slotVersion } = await readProjectionState(slots)
    const value = { version, rebuilding: rebuilding && { ...rebuilding } }
    if (await slots.put({ ...NEW_PROJECTIONS, value }, slotVersion)) return
  }
}
