import { ClewError } from '../errors.ts'

type Step = { name: string } | { index: number } | 'any' | 'deep'

const STEP = /\.?\*\*|(?:\.|\[)\*\]?|\.([A-Za-z_][\w-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y

/** `$.messages[*].content`, `$.headers["x-key"]`, `$.**.ssn`: `*` is one step, `**` any number of them. */
export function compilePath(text: string): (path: readonly (string | number)[]) => boolean {
  const steps: Step[] = []
  let at = text.startsWith('$') ? 1 : -1
  while (at >= 0 && at < text.length) {
    STEP.lastIndex = at
    const match = STEP.exec(text)
    if (match === null) break
    at = STEP.lastIndex
    if (match[1] !== undefined) steps.push({ name: match[1] })
    else if (match[2] !== undefined) steps.push({ index: Number(match[2]) })
    else if (match[3] !== undefined) steps.push({ name: String(JSON.parse(match[3])) })
    else steps.push(match[0].includes('**') ? 'deep' : 'any')
  }
  if (at !== text.length)
    throw new ClewError(
      'bad_option',
      `The redaction path ${JSON.stringify(text)} cannot be read`,
      'Write it like $.messages[*].content, with * for one step and ** for any depth',
    )
  const matches = (path: readonly (string | number)[], step: number, depth: number): boolean => {
    const one = steps[step]
    if (one === undefined) return depth === path.length
    if (one === 'deep') {
      for (let next = depth; next <= path.length; next++) if (matches(path, step + 1, next)) return true
      return false
    }
    if (depth === path.length) return false
    const here = path[depth]
    const fits = one === 'any' || here === ('name' in one ? one.name : one.index)
    return fits && matches(path, step + 1, depth + 1)
  }
  return (path) => matches(path, 0, 0)
}
