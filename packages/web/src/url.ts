/** All that a view shows is in its address; here it is read and named, once. */

export const RUN_TABS = [
  'transcript',
  'timeline',
  'graph',
  'state',
  'causes',
  'events',
  'cost',
  'log',
  'lineage',
] as const
export type RunTab = (typeof RUN_TABS)[number]

export const nameOfTab = (tab: RunTab): string =>
  tab === 'log' ? 'Run log' : tab.charAt(0).toUpperCase() + tab.slice(1)

export interface RunsSearch {
  /** The filter as it was typed: `status:failed agent:research since:1h owls`. */
  readonly q?: string | undefined
}

export interface RunSearch {
  readonly tab?: RunTab | undefined
  /** The chosen step: attempt and id, `2 search#1`. */
  readonly step?: string | undefined
  /** The chosen event, by its seq. */
  readonly event?: number | undefined
  /** The superstep at which the run is looked at; without it, its end. */
  readonly at?: number | undefined
  /** The part of the time that the timeline shows, in milliseconds since the first step: `120-450`. */
  readonly zoom?: string | undefined
  /** In the graph: the node whose steps are listed. */
  readonly node?: string | undefined
  /** In the graph: the child run that is drawn in place of this one. */
  readonly child?: string | undefined
  /** In the state: show what changed since the superstep before, or since another one. */
  readonly since?: number | 'before' | undefined
  /** Action whose dialog is open. */
  readonly act?: 'fork' | 'replay' | 'stop' | 'resume' | undefined
}

export interface CompareSearch {
  readonly a?: string | undefined
  readonly b?: string | undefined
  readonly all?: boolean | undefined
}

export interface MemorySearch {
  readonly layer?: string | undefined
  readonly q?: string | undefined
}

export interface StreamSearch {
  /** The thread that is open beside the stream: a stream, too. */
  readonly thread?: string | undefined
  /** The session whose trace is open, and the step or message to be found in it. */
  readonly trace?: string | undefined
  readonly highlight?: string | undefined
}

type Raw = Readonly<Record<string, unknown>>

const text = (value: unknown): string | undefined => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}
const count = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}
function oneOf<T extends string>(value: unknown, all: readonly T[]): T | undefined {
  return all.find((each) => each === value)
}
/** Leaves out what is not there, so that addresses stay short. */
function compact<T extends object>(search: T): T {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as T
}

export const readRunsSearch = (raw: Raw): RunsSearch => compact({ q: text(raw['q']) })

export const readRunSearch = (raw: Raw): RunSearch =>
  compact({
    tab: oneOf(raw['tab'], RUN_TABS),
    step: text(raw['step']),
    event: count(raw['event']),
    at: count(raw['at']),
    zoom: text(raw['zoom']),
    node: text(raw['node']),
    child: text(raw['child']),
    since: raw['since'] === 'before' ? ('before' as const) : count(raw['since']),
    act: oneOf(raw['act'], ['fork', 'replay', 'stop', 'resume'] as const),
  })

export const readCompareSearch = (raw: Raw): CompareSearch =>
  compact({
    a: text(raw['a']),
    b: text(raw['b']),
    all: raw['all'] === true || raw['all'] === 'true' ? true : undefined,
  })

export const readMemorySearch = (raw: Raw): MemorySearch =>
  compact({ layer: text(raw['layer']), q: text(raw['q']) })

export const readStreamSearch = (raw: Raw): StreamSearch =>
  compact({ thread: text(raw['thread']), trace: text(raw['trace']), highlight: text(raw['highlight']) })

/** Addresses as people write them: `?tab=state&at=3`, text without quotes. */
export function formatSearch(search: Raw): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(search))
    if (value !== undefined && value !== null)
      params.set(key, typeof value === 'string' ? value : JSON.stringify(value))
  const written = params.toString()
  return written === '' ? '' : `?${written}`
}

export const parseSearch = (written: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(written))
