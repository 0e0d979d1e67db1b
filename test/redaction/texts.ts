import type { JsonObject } from '../../packages/ledger/src/json.ts'
import type { Dice, Kind } from './third/make.ts'

export interface OrdinaryText {
  readonly carrier: string
  readonly text: string
  /** What the redactor is given: a tool call is an object, everything else one text in it. */
  readonly value: JsonObject
}
export interface SecretText extends OrdinaryText {
  readonly secrets: readonly string[]
}

interface Plain {
  readonly plain: Kind
}
interface Again {
  readonly again: Kind
}

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

type Values = readonly (Kind | Plain | Again | string)[]

interface Texts {
  readonly secretTexts: (
    carrier: string,
  ) => (strings: TemplateStringsArray, ...values: Values) => SecretText[]
  readonly ordinaryTexts: (
    carrier: string,
  ) => (strings: TemplateStringsArray, ...kinds: readonly Kind[]) => OrdinaryText[]
}

/** The two ways in which an author writes texts down; texts of the carrier `objects` are JSON. */
export function createTexts(
  dice: { readonly secret: (carrier: string) => Dice; readonly ordinary: (carrier: string) => Dice },
  objects: string,
): Texts {
  const withValue = (carrier: string, text: string): OrdinaryText => ({
    carrier,
    text,
    value: carrier === objects ? (JSON.parse(text) as JsonObject) : { content: text },
  })
  return {
    secretTexts:
      (carrier) =>
      (strings, ...values) => {
        const thrown = dice.secret(carrier)
        const last = new Map<Kind, string>()
        const shown = values.map((value) => {
          // A secret written by hand, as a person would choose it.
          if (typeof value === 'string') return `\ue000${value}\ue001`
          if (typeof value === 'object' && 'plain' in value) return value.plain(thrown)
          const kind = typeof value === 'function' ? value : value.again
          const secret = typeof value === 'function' ? kind(thrown) : last.get(kind)
          if (secret === undefined)
            throw new Error(`${carrier}: nothing of this kind stands before its repetition`)
          last.set(kind, secret)
          return `\ue000${secret}\ue001`
        })
        return splitTexts(String.raw(strings, ...shown)).map((marked) => ({
          ...withValue(carrier, marked.replace(SECRET, '$1')),
          secrets: [...new Set(Array.from(marked.matchAll(SECRET), (match) => match[1] ?? ''))],
        }))
      },
    ordinaryTexts:
      (carrier) =>
      (strings, ...kinds) => {
        const thrown = dice.ordinary(carrier)
        return splitTexts(String.raw(strings, ...kinds.map((kind) => kind(thrown)))).map((text) =>
          withValue(carrier, text),
        )
      },
  }
}
