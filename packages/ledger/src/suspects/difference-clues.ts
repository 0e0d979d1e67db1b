import { compareItems, type DiffRow } from '../diff/compare.ts'
import { findChanges } from '../diff/changes.ts'
import { type Item, isTalk, toItems } from '../diff/items.ts'
import type { ClewEvent } from '../event/envelope.ts'
import type { Case } from './case.ts'
import { isVolatile, scalarsOf } from './scalars.ts'
import type { Clue } from './suspicion.ts'

const MAX_ROWS = 8
const FIRST = 0.9
const NEXT = 0.6

const differing = (clues: readonly Clue[]): number => clues.filter(({ kind }) => kind === 'differs').length

/**
 * Where the run parts from the good one. The first real difference weighs most: later ones mostly follow from it. Ids of
 * requests, times and other words are no differences.
 */
export function differenceClues(
  { events, steps, bySeq, isBad, end }: Case,
  good: readonly ClewEvent[],
  goodRunId: string,
): Clue[] {
  if (!isBad) return []
  const own = toItems(events)
  const theirs = toItems(good)
  const { rows } = compareItems(theirs, own)
  const clues: Clue[] = [...choiceDifferences(events, good, goodRunId)]
  const until = end?.event.ledger.seq ?? Number.POSITIVE_INFINITY
  for (const [index, row] of rows.entries()) {
    if (row.mark === 'missing') {
      const clue = missingClue(rows, index, own, theirs, bySeq, until)
      if (clue) clues.push(clue.of(goodRunId, NEXT ** differing(clues)))
      continue
    }
    const seq = row.b?.seq
    if (row.mark === 'same' || row.mark === 'wording') continue
    if (seq === undefined || seq > until) continue
    const item = own[row.b?.index ?? -1]
    const other = theirs[row.a?.index ?? -1]
    // What people say, or a model beside what it does, differs without being wrong.
    if (item && isTalk(item)) continue
    const changes = item && other ? realChanges(row, other, item) : null
    if (changes?.length === 0) continue
    const step = steps.findLast((each) => each.stepId === row.b?.stepId)
    const isEnd = row.mark === 'output' || row.mark === 'decision' || (row.mark === 'order' && step)
    // What came of a step that was done again after its owner was lost, came of that loss.
    const lost = step && step.attempt > 1 ? interruptionOf(events, step.stepId) : undefined
    const at = lost ?? bySeq.get(isEnd ? (step?.endedSeq ?? seq) : seq)
    if (!at || step?.status === 'failed') continue
    const change = changes?.[0]
    clues.push({
      event: at,
      kind: 'differs',
      weight: FIRST * NEXT ** differing(clues),
      why: `${row.b?.label ?? 'this'} ${WAYS[row.mark]} in good run ${goodRunId}${change ? `: ${change.path} ${change.expected ?? 'nothing'} there, ${change.received ?? 'nothing'} here` : ''}`,
    })
    if (clues.length >= MAX_ROWS) break
  }
  return clues
}

function interruptionOf(events: readonly ClewEvent[], stepId: string): ClewEvent | undefined {
  const index = events.findIndex(
    ({ eventType, payload }) => eventType === 'execution.step_interrupted' && payload['stepId'] === stepId,
  )
  if (index < 0) return undefined
  const before = events[index - 1]
  return before?.eventType === 'system.workflow_interrupted' ? before : events[index]
}

/** Something that only the good run did: what this one did there instead, next. A run that had failed before does nothing more. */
function missingClue(
  rows: readonly DiffRow[],
  index: number,
  own: readonly Item[],
  theirs: readonly Item[],
  bySeq: ReadonlyMap<number, ClewEvent>,
  until: number,
): { of(goodRunId: string, factor: number): Clue } | undefined {
  const lacking = theirs[rows[index]?.a?.index ?? -1]
  if (!lacking || isTalk(lacking) || rows[index - 1]?.mark === 'missing') return undefined
  const next = rows.slice(index).find(({ b }) => b !== null && own[b.index]?.name !== 'user')?.b
  const event = next && next.seq <= until ? bySeq.get(next.seq) : undefined
  if (!event) return undefined
  const did = rows[index]?.a?.label ?? lacking.name
  return {
    of: (goodRunId, factor) => ({
      event,
      kind: 'differs',
      weight: FIRST * factor,
      why: `good run ${goodRunId} did ${did} before this`,
    }),
  }
}

const WAYS: Readonly<Record<DiffRow['mark'], string>> = {
  same: 'is the same',
  attempts: 'took another number of attempts',
  wording: 'is worded otherwise',
  order: 'came at another place',
  name: 'is something else',
  kind: 'is something else',
  input: 'was given something else',
  output: 'had another result',
  decision: 'decided otherwise',
  missing: 'is there',
  extra: 'is not there',
}

/** Null where there is nothing to compare value by value. */
function realChanges(row: DiffRow, other: Item, item: Item) {
  if (row.mark === 'attempts') return []
  if (row.mark !== 'input' && row.mark !== 'output') return null
  const [a, b] = row.mark === 'input' ? [other.input, item.input] : [other.output, item.output]
  if (row.mark === 'output' && other.status !== item.status) return null
  return findChanges(a, b, 8).filter(
    ({ path, expected, received }) => !isVolatile(path.replace(/^\$\.?/, ''), bare(received ?? expected)),
  )
}

const bare = (text: string | null): string => (text ?? '').replace(/^"|"$/g, '')

const CHOICES = ['execution.handoff', 'execution.decision'] as const

/** Hand-offs and decisions side by side, each with the next of its kind. */
function choiceDifferences(
  events: readonly ClewEvent[],
  good: readonly ClewEvent[],
  goodRunId: string,
): Clue[] {
  const clues: Clue[] = []
  for (const type of CHOICES) {
    const field = type === 'execution.handoff' ? 'to' : 'choice'
    const textOf = (event: ClewEvent | undefined): string =>
      event === undefined ? 'nothing' : (JSON.stringify(scalarsOf(event.payload[field])) ?? 'nothing')
    const own = events.filter(({ eventType }) => eventType === type)
    const theirs = good.filter(({ eventType }) => eventType === type)
    const at = own.findIndex((event, index) => textOf(event) !== textOf(theirs[index]))
    const event = own[at]
    if (!event) continue
    const kind = type === 'execution.handoff' ? 'hand-off' : 'decision'
    clues.push({
      event,
      kind,
      weight: 0.85,
      why: `the ${kind} was ${(JSON.stringify(event.payload[field]) ?? '').slice(0, 60)}, in good run ${goodRunId} ${(JSON.stringify(theirs[at]?.payload[field]) ?? 'there was none').slice(0, 60)}`,
    })
  }
  return clues
}
