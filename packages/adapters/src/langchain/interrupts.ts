import { isObject } from '../foreign.ts'

export interface InterruptFound {
  readonly pauseId: string
  readonly question: unknown
}

/** The questions that LangGraph throws to leave a node with; undefined for an error. */
export function interruptsOf(thrown: unknown): InterruptFound[] | undefined {
  if (!(thrown instanceof Error) || !/^(?:Graph|Node)Interrupt$/.test(thrown.name)) return undefined
  const found: unknown = Reflect.get(thrown, 'interrupts')
  return (Array.isArray(found) ? found : []).filter(isObject).map((each, at) => ({
    pauseId: typeof each['id'] === 'string' ? each['id'] : `interrupt-${at}`,
    question: each['value'] ?? null,
  }))
}

/** A command for the graph above leaves a node as an error and is none. */
export const parentCommandOf = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.name === 'ParentCommand' ? Reflect.get(thrown, 'command') : undefined

/** The caller stopped it, so it is no failure. LangGraph passes its callbacks the bare message `Abort`. */
export const isAbort = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown.name === 'AbortError' || /^Abort(?:ed)?$/.test(thrown.message))
