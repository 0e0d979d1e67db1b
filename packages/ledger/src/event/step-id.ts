/**
 * Step identity (R2), readable: the path of `name#ordinal` or `name@key` from the top of the run, so that
 * `plan#0/search#2` is the third call of `search` inside the first `plan`. The ordinal counts calls of that
 * name within the parent, whatever runs beside it, hence the id is the same on resume and on replay.
 */
export interface StepIdentity {
  readonly parentStepId: string | null
  readonly name: string
  readonly key?: string | undefined
  readonly ordinal: number
}

const SPECIAL = /[%/#@]/
const escape = (text: string): string =>
  SPECIAL.test(text) ? text.replace(/[%/#@]/g, (char) => `%${char.charCodeAt(0).toString(16)}`) : text
const unescape = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

export function formatStepId({ parentStepId, name, key, ordinal }: StepIdentity): string {
  const own = key === undefined ? `${escape(name)}#${ordinal}` : `${escape(name)}@${escape(key)}`
  return parentStepId === null ? own : `${parentStepId}/${own}`
}

/** Identity of a step from its id; undefined for an id that was not made by `formatStepId`. */
export function parseStepId(stepId: string): StepIdentity | undefined {
  const slash = stepId.lastIndexOf('/')
  const match = /^([^#@]+)(?:#(\d+)|@(.*))$/.exec(stepId.slice(slash + 1))
  if (!match) return undefined
  const [, name = '', ordinal, key] = match
  return {
    parentStepId: slash < 0 ? null : stepId.slice(0, slash),
    name: unescape(name),
    ...(key !== undefined && { key: unescape(key) }),
    ordinal: Number(ordinal ?? 0),
  }
}

/** Text that names a step: its id, which holds its name; if another system made the id, such as that of a span, the name. */
export const stepLabel = (stepId: string, name: string | null | undefined): string =>
  name && !parseStepId(stepId) ? name : stepId

/** The id with each name and key in it as `redact` gives them; what it leaves alone keeps its spelling. */
export function redactStepId(stepId: string, redact: (text: string) => string): string {
  return stepId.replace(/[^/#@]+/g, (part) => {
    const text = unescape(part)
    const clean = redact(text)
    return clean === text ? part : escape(clean)
  })
}
