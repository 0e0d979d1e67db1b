import { ClewError, type ClewEvent, isOwn, kindOfStep, type Ledger, type Safety } from '@clew/ledger'
import { findCut, type ForkPoint } from '../engine/cut.ts'
import { isModelRequest } from '../machine/branch.ts'
import { isStepEvent, stepIdOf } from '../machine/record.ts'
import { unknownRun } from '../run/unknown-run.ts'
import { cutBeforeFailure, cutRun } from './cut-run.ts'
import { type Replacement, resolveReplacement } from './replace-value.ts'

export interface PreviewForkOptions {
  readonly at?: ForkPoint | undefined
  readonly replace?: Replacement | undefined
  readonly retry?: boolean | undefined
}

/** An effect that the source performed after the cut, and how often. */
export interface PreviewedEffect {
  readonly name: string
  readonly safety: Safety | 'undeclared'
  readonly count: number
}

/** What a fork would keep and do, if it takes the way of its source (R7). */
export interface ForkPreview {
  readonly runId: string
  /** Events that fork and source share. */
  readonly seq: number
  readonly keptSteps: number
  /** Steps of the source after the cut. */
  readonly nextSteps: number
  /** Performed again: models and effects declared `read`. */
  readonly live: readonly PreviewedEffect[]
  /** Given back for the same input, else a person is asked. */
  readonly outward: readonly PreviewedEffect[]
  /** Stream in which the fork answers. */
  readonly streamId: string | null
}

/** Reads where a fork would part and what follows there; writes nothing. */
export async function previewFork(
  ledger: Ledger,
  runId: string,
  { at, replace, retry }: PreviewForkOptions = {},
): Promise<ForkPreview> {
  const source = await ledger.getRun(runId)
  if (!source) throw unknownRun(runId)
  const events = await Array.fromAsync(ledger.read(runId))
  const seq = await cutAt()
  const kept = new Set<string>()
  const next = new Map<string, Began>()
  for (const event of events) {
    if (!isStepEvent(event)) continue
    const stepId = stepIdOf(event)
    if (event.ledger.seq <= seq) {
      if (event.eventType === 'execution.step_completed') kept.add(stepId)
    } else if (isOwn(event, 'execution.step_started')) next.set(stepId, beganOf(event))
    else if (isOwn(event, 'execution.step_completed') && event.payload.usage !== undefined)
      next.set(stepId, { ...(next.get(stepId) ?? UNKNOWN), isModel: true })
  }
  const effects = [...next.values()].filter(({ isEffect }) => isEffect)
  const isLive = ({ isModel, safety }: Began): boolean => isModel || safety === 'read'
  return {
    runId,
    seq,
    keptSteps: kept.size,
    nextSteps: next.size,
    live: counted(effects.filter(isLive)),
    outward: counted(effects.filter((effect) => !isLive(effect))),
    streamId: source.session?.streamId ?? null,
  }

  async function cutAt(): Promise<number> {
    if (events.length === 0)
      throw new ClewError('not_found', `Run ${runId} has no events`, 'Nothing can be forked.', { runId })
    if (replace) return resolveReplacement(runId, events, replace).seq
    if (retry === true) return cutBeforeFailure(runId, events).seq
    if (source?.checkpoint) return (await findCut(ledger, source, at)).event.ledger.seq
    return cutRun(runId, events, at).seq
  }
}

interface Began {
  readonly name: string
  readonly safety: Safety | 'undeclared'
  readonly isEffect: boolean
  readonly isModel: boolean
}

const UNKNOWN: Began = { name: '', safety: 'undeclared', isEffect: false, isModel: false }

/** Steps of imported runs have kinds of their own: a model or a tool reaches outside, too. */
const EFFECTS: ReadonlySet<string> = new Set(['effect', 'model', 'tool', 'http', 'llm'])

function beganOf(event: ClewEvent): Began {
  if (!isOwn(event, 'execution.step_started')) return UNKNOWN
  const { name = '', safety = 'undeclared', input } = event.payload
  const kind = kindOfStep(event.payload) ?? ''
  const isModel = kind === 'model' || kind === 'llm' || isModelRequest(input)
  return { name, safety, isEffect: EFFECTS.has(kind), isModel }
}

function counted(effects: readonly Began[]): PreviewedEffect[] {
  const groups = Map.groupBy(effects, ({ name, safety }) => `${safety} ${name}`)
  return [...groups.values()].map((those) => {
    const [{ name, safety }] = those as [Began]
    return { name, safety, count: those.length }
  })
}
