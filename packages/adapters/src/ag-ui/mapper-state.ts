import type { EventInput, JsonValue, Payload } from '@clew/ledger'
import { createDraft, type MappedEvent, type MapOptions, type MappedRun } from '../mapped-run.ts'
import { createOrdinals, createToolSteps, type ToolSteps } from '../tool-steps.ts'

const RUNTIME = 'ag-ui'

/** A message, a thought or the arguments of a call, while it streams in. */
export interface OpenText {
  readonly parts: string[]
  readonly payload: Payload
}

export interface OpenStep {
  readonly stepId: string
  readonly eventId: string
  readonly name: string
}

/** State of the mapper within one run. */
export interface MapperState {
  readonly runId: string
  readonly threadId: string | undefined
  readonly agent: string | undefined
  readonly draft: MappedRun
  readonly tools: ToolSteps
  readonly nextOrdinal: (name: string) => number
  /** Number of equal events so far: a repeated event is a second event, and sending the whole stream again gives the same ids. */
  readonly nth: (what: string) => number
  add(event: Omit<MappedEvent, 'cause'> & { cause?: string | null }): string
  /** The last event; null before the first. */
  last: string | null
  /** Event id of each message. */
  readonly messages: Map<string, string>
  readonly texts: Map<string, OpenText>
  readonly thoughts: Map<string, OpenText>
  readonly calls: Map<string, OpenText>
  /** Open steps, the innermost last. */
  readonly steps: OpenStep[]
  readonly subagents: Map<string, OpenStep>
  /** Questions without an answer, and the events that asked them. */
  readonly questions: Map<string, string>
  /** Open message, thought or call to which chunks without an id belong. */
  chunk: { readonly kind: 'text' | 'thought' | 'call'; readonly id: string } | undefined
  state: JsonValue | undefined
  ended: boolean
  take(): EventInput[]
}

export function createScene(options: MapOptions, threadId: string | undefined): MapperState {
  const draft = createDraft(options, RUNTIME)
  const nextOrdinal = createOrdinals()
  const nth = createOrdinals()
  const tools = createToolSteps(draft, options, nextOrdinal)
  const scene: MapperState = {
    runId: options.runId,
    threadId,
    agent: options.agent,
    draft,
    tools,
    nextOrdinal,
    nth,
    add({ cause = scene.last, ...event }) {
      scene.last = draft.add({ ...event, cause })
      return scene.last
    },
    last: null,
    messages: new Map(),
    texts: new Map(),
    thoughts: new Map(),
    calls: new Map(),
    steps: [],
    subagents: new Map(),
    questions: new Map(),
    chunk: undefined,
    state: undefined,
    ended: false,
    take: () => draft.take(),
  }
  return scene
}
