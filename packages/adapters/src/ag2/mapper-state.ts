import type { EventInput, JsonObject, Payload } from '@clew/ledger'
import { plainText, rest } from '../foreign.ts'
import { createDraft, type MappedEvent, type MapOptions, type MappedRun } from '../mapped-run.ts'
import { createOrdinals, createToolSteps, type ToolSteps } from '../tool-steps.ts'

const RUNTIME = 'ag2'

/** Open question to a person. */
export interface Question {
  readonly pauseId: string
  readonly eventId: string
  /** The answer is hidden while it is typed, so it is not recorded. */
  readonly hidden: boolean
}

/** State of the mapper within one run. */
export interface MapperState {
  readonly draft: MappedRun
  readonly tools: ToolSteps
  /** Adds an event and makes it the one that the next is caused by. */
  add(event: Omit<MappedEvent, 'cause'> & { cause?: string | null }): string
  /** The last event; null before the first. */
  readonly last: string | null
  /** The last event that went to this agent, else the last of all: what it answers. */
  heardBy(agent: string | undefined): string | null
  /** From now on this agent answers what was said here. */
  tell(agent: string | undefined, eventId: string): void
  speaker: string | undefined
  firstSpeaker: string | undefined
  question: Question | undefined
  stopReason: string | undefined
  /** Ids of the calls that have their result. */
  readonly answered: Set<string>
  /** Id of the event that started each task. */
  readonly tasks: Map<string, string>
  ended: boolean
  take(): EventInput[]
}

export function createScene(options: MapOptions): MapperState {
  const draft = createDraft(options, RUNTIME)
  const tools = createToolSteps(draft, options, createOrdinals())
  const heard = new Map<string, string>()
  let last: string | null = null
  return {
    draft,
    tools,
    get last() {
      return last
    },
    add({ cause = last, ...event }) {
      last = draft.add({ ...event, cause })
      return last
    },
    heardBy: (agent) => (agent === undefined ? last : (heard.get(agent) ?? last)),
    tell(agent, eventId) {
      last = eventId
      if (agent !== undefined) heard.set(agent, eventId)
    },
    speaker: undefined,
    firstSpeaker: undefined,
    question: undefined,
    stopReason: undefined,
    answered: new Set(),
    tasks: new Map(),
    ended: false,
    take: () => draft.take(),
  }
}

/** An agent is named by text, or by an object that has its name. */
export function agentName(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null && 'name' in value) return plainText(value.name)
  return plainText(value)
}

export const without = (source: JsonObject, ...taken: string[]): Payload => rest(source, new Set(taken))
