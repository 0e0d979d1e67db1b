import { findPlaceholderPlaces, type PlaceholderPlace } from '@clew/ledger'
import type { Outcome, Work } from './step.ts'

/** Text with a placeholder inside that code was given, and what gave it: a step, the input, the state. */
export interface RedactedText {
  readonly from: string
  readonly path: string
  readonly kind: string
}

/** P2: the first value that is a placeholder as a whole; it is never handed to code. */
export const wholePlaceholderIn = (value: unknown): PlaceholderPlace | undefined =>
  findPlaceholderPlaces(value).find(({ isWhole }) => isWhole)

/** Placeholders in what a recorded step would give to code: its output, and what it sends to other nodes. */
export function placeholdersOf(outcome: Outcome, work: Work): PlaceholderPlace[] {
  if (!('output' in outcome)) return []
  const sends = outcome.fields?.sends
  const { output } = outcome
  const given = work.kind === 'effect' && work.asGiven ? work.asGiven(output) : output
  const found = findPlaceholderPlaces(given)
  return sends === undefined ? found : [...found, ...findPlaceholderPlaces({ sends })]
}

export const textsFrom = (from: string, places: readonly PlaceholderPlace[]): RedactedText[] =>
  places.map(({ path, kind }) => ({ from, path, kind }))

export const warningOfText = ({ from, path, kind }: RedactedText): string =>
  `The code was given text with a redacted secret (${kind}) at ${path} of ${from}: the placeholder stands in its place. Resume with the secret in { secrets } where the code needs it.`

export const warningOfInput = (stepId: string, { path, kind }: PlaceholderPlace): string =>
  `Step ${stepId} was performed with the placeholder of a redacted secret (${kind}) at ${path} of its input.`
