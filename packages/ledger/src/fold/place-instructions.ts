import type { ClewEvent } from '../event/envelope.ts'
import { isObject } from '../json.ts'
import { compareInstants, type Moment } from './happened-order.ts'
import type { TranscriptEntry } from './transcript-entry.ts'
import type { TranscriptState } from './transcript-state.ts'

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer'])

export const isInstruction = (entry: TranscriptEntry | undefined): boolean =>
  entry?.kind === 'message' && ROLES.has(entry.role)

/**
 * Moves instructions in an exported run to the earliest step that was given them. Their message is recorded once, with the
 * first span that brings it: if exports overtake each other, that is not the first call.
 */
export function placeInstructions(
  { entries, moments, instructions }: TranscriptState,
  { payload }: ClewEvent,
  moment: Moment,
): void {
  const { input } = payload
  const given: unknown = isObject(input) ? input['messages'] : input
  if (moment.stepId === null || !Array.isArray(given)) return
  for (const message of given) {
    if (!isObject(message) || !ROLES.has(message['role'])) continue
    const text = JSON.stringify(message['content'])
    for (const slot of instructions) {
      const entry = entries[slot]
      const before = moments[slot]
      if (entry?.kind !== 'message' || !before || compareInstants(moment, before) >= 0) continue
      if (JSON.stringify(entry.content) === text) moments[slot] = moment
    }
  }
}
