import { stepLabel, type StepSkeleton } from '@clew/ledger'
import type { Colours } from './colour.ts'
import { statusMark } from './marks.ts'
import { cut, pad, printable, textWidth } from './text.ts'
import { formatDuration } from './time.ts'

/** Deeper than this nothing is indented any further. */
const DEEPEST = 16

interface Row {
  readonly step: StepSkeleton
  readonly branch: string
  /** Prefix of the lines of nested steps. */
  readonly below: string
}

/** Steps as an indented tree with their attempts one after the other; a step without its parent becomes a root. */
export function stepTree(steps: readonly StepSkeleton[], colour: Colours, width: number): string[] {
  const rows = order(steps).map((row) => ({ ...row, name: nameOf(row.step) }))
  const widest = Math.max(0, ...rows.map(({ branch, name }) => textWidth(branch) + textWidth(name)))
  const column = Math.min(widest, Math.max(16, width - 44))
  return rows.map(({ step, branch, name }) => {
    const room = column - textWidth(branch)
    const left = `${colour.dim(branch)}${statusMark(colour, step.status)} ${pad(cut(name, room), room)}`
    const took = step.durationMs === null ? step.status : formatDuration(step.durationMs)
    return `${left}  ${colour.dim(took.padStart(9))}  ${cut(noteOf(step), width - column - 15)}`.trimEnd()
  })
}

/** The step's own part of the id, which distinguishes the second `search` from the first. */
function nameOf({ stepId, parentStepId, nodeName }: StepSkeleton): string {
  const own =
    parentStepId !== null && stepId.startsWith(`${parentStepId}/`)
      ? stepId.slice(parentStepId.length + 1)
      : stepLabel(stepId, nodeName)
  return printable(own.replace(/#0$/, ''))
}

function noteOf(step: StepSkeleton): string {
  const notes: string[] = []
  if (step.kind !== 'step') notes.push(step.kind)
  if (step.attempt > 1) notes.push(`attempt ${step.attempt}`)
  if (step.cached) notes.push('cached')
  if (step.restored) notes.push('restored')
  if (step.childRunId !== null) notes.push(`run ${step.childRunId}`)
  if (step.error) notes.push(step.error.message ?? step.error.name ?? 'failed')
  return printable(notes.join(' · '))
}

/** Depth first and without recursion: a run may nest ten thousand deep. */
function order(steps: readonly StepSkeleton[]): Row[] {
  const attempts = Map.groupBy(steps, (step) => step.stepId)
  const children = Map.groupBy(attempts.keys(), (stepId) => {
    const parent = attempts.get(stepId)?.[0]?.parentStepId ?? null
    return parent !== null && parent !== stepId && attempts.has(parent) ? parent : null
  })
  const rows: Row[] = []
  const stack: { stepId: string; branch: string; below: string }[] = []
  const push = (parent: string | null, prefix: string): void => {
    const found = children.get(parent) ?? []
    const deep = prefix.length >= 2 * DEEPEST
    for (const [at, stepId] of [...found.entries()].toReversed()) {
      const last = at === found.length - 1
      if (parent === null) stack.push({ stepId, branch: '', below: '' })
      else if (deep) stack.push({ stepId, branch: prefix, below: prefix })
      else stack.push({ stepId, branch: prefix + (last ? '└ ' : '├ '), below: prefix + (last ? '  ' : '│ ') })
    }
  }
  push(null, '')
  for (let at = stack.pop(); at; at = stack.pop()) {
    const { stepId, ...place } = at
    for (const step of attempts.get(stepId) ?? []) rows.push({ step, ...place })
    push(stepId, place.below)
  }
  return rows
}
