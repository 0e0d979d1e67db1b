import { optionText, type Question } from './question.ts'

type Asked = Pick<Question, 'options' | 'schema'>

/** Parses a typed answer: an option by its text or number, else JSON, else text. */
export function chooseAnswer({ options, schema }: Asked, said: string): unknown {
  const named = options.find((option) => optionText(option) === said)
  if (named !== undefined) return named
  const numbered = /^\d{1,4}$/.test(said) ? options[Number(said) - 1] : undefined
  if (numbered !== undefined) return numbered
  try {
    return fitAnswer({ options, schema }, JSON.parse(said))
  } catch {
    return said
  }
}

/** `--answer 5` is a number, unless text is asked for. */
export function fitAnswer({ options, schema }: Asked, answer: unknown): unknown {
  if (typeof answer === 'string' || typeof answer === 'object') return answer
  const asText = JSON.stringify(answer)
  const wantsText = typeof schema === 'object' && schema !== null && Reflect.get(schema, 'type') === 'string'
  return wantsText || (options.includes(asText) && !options.includes(answer)) ? asText : answer
}
