import { createDice, type Kind } from './make.ts'

export type SecretText = {
  readonly carrier: string
  readonly text: string
  readonly secrets: readonly string[]
}
export type OrdinaryText = { readonly carrier: string; readonly text: string }

type Plain = { readonly plain: Kind }
type Again = { readonly again: Kind }

/** A generated value that is no secret, for example the sha of a commit. */
export const plain = (kind: Kind): Plain => ({ plain: kind })
/** The secret of that kind that stands last before this place, once more. */
export const again = (kind: Kind): Again => ({ again: kind })

const SECRET = /\ue000([^\ue001]*)\ue001/g

/** Texts stand one after the other, parted by a line of `%%`; only backticks and `${` are escaped. */
const splitTexts = (text: string): readonly string[] =>
  text
    .replaceAll('\\`', '`')
    .replaceAll('\\${', '${')
    .split(/^%%$/m)
    .map((part) => part.replace(/^\n+|\s+$/g, ''))

export const secretTexts =
  (carrier: string) =>
  (strings: TemplateStringsArray, ...values: readonly (Kind | Plain | Again)[]): readonly SecretText[] => {
    const dice = createDice(carrier)
    const last = new Map<Kind, string>()
    const shown = values.map((value) => {
      if (typeof value === 'object' && 'plain' in value) return value.plain(dice)
      const kind = typeof value === 'function' ? value : value.again
      const secret = typeof value === 'function' ? kind(dice) : last.get(kind)
      if (secret === undefined)
        throw new Error(`${carrier}: nothing of this kind stands before its repetition`)
      last.set(kind, secret)
      return `\ue000${secret}\ue001`
    })
    return splitTexts(String.raw(strings, ...shown)).map((marked) => ({
      carrier,
      text: marked.replace(SECRET, '$1'),
      secrets: [...new Set(Array.from(marked.matchAll(SECRET), (match) => match[1] ?? ''))],
    }))
  }

export const ordinaryTexts =
  (carrier: string) =>
  (strings: TemplateStringsArray, ...kinds: readonly Kind[]): readonly OrdinaryText[] => {
    const dice = createDice(carrier)
    return splitTexts(String.raw(strings, ...kinds.map((kind) => kind(dice)))).map((text) => ({
      carrier,
      text,
    }))
  }
