/** One turn of a request to a model, and where its text is in the request. */
export interface Turn {
  readonly role: string
  /** Keys from the request down to the text; null if the turn has no text of its own. */
  readonly path: readonly (string | number)[] | null
  readonly text: string | null
  /** What is in the turn beside its text: tool calls, images. */
  readonly rest: Readonly<Record<string, unknown>>
}

export interface ModelRequest {
  readonly turns: readonly Turn[]
  /** Model, temperature, tools and all else that is no turn. */
  readonly parameters: Readonly<Record<string, unknown>>
}

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The conversation in the input of a model call; undefined if it has none. A taped request has it in its body. */
export function readModelRequest(input: unknown): ModelRequest | undefined {
  if (!isObject(input)) return undefined
  const within = isObject(input['body']) && Array.isArray(input['body']['messages']) ? ['body'] : []
  const request = within.length > 0 ? (input['body'] as Fields) : input
  const { messages, system, ...parameters } = request
  if (
    !Array.isArray(messages) ||
    !messages.every((each) => isObject(each) && typeof each['role'] === 'string')
  )
    return undefined
  const turns = messages.map((message: Fields, at) => toTurn(message, [...within, 'messages', at]))
  if (typeof system === 'string')
    turns.unshift({ role: 'system', path: [...within, 'system'], text: system, rest: {} })
  return { turns, parameters }
}

function toTurn({ role, content, ...rest }: Fields, path: readonly (string | number)[]): Turn {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value != null))
  if (typeof content === 'string')
    return { role: String(role), path: [...path, 'content'], text: content, rest: given }
  const parts = Array.isArray(content) ? (content as unknown[]) : []
  const at = parts.findIndex((part) => isObject(part) && typeof part['text'] === 'string')
  const part = parts[at]
  if (!isObject(part))
    return {
      role: String(role),
      path: null,
      text: null,
      rest: { ...given, ...(content != null && { content }) },
    }
  const others = parts.filter((each) => each !== part)
  return {
    role: String(role),
    path: [...path, 'content', at, 'text'],
    text: part['text'] as string,
    rest: { ...given, ...(others.length > 0 && { content: others }) },
  }
}

/** A copy of the value that has another one at this path. */
export function withValueAt(value: unknown, path: readonly (string | number)[], next: unknown): unknown {
  const [key, ...deeper] = path
  if (key === undefined) return next
  if (Array.isArray(value))
    return value.map((item: unknown, at) => (at === key ? withValueAt(item, deeper, next) : item))
  if (!isObject(value)) return value
  return { ...value, [key]: withValueAt(value[key], deeper, next) }
}
