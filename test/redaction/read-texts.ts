import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { f, jwt, pem } from './fourth/make.ts'
import type { JsonObject } from '../../packages/ledger/src/json.ts'
import type { OrdinaryText, SecretText } from './texts.ts'
import { createDice, type Dice, type Kind } from './third/make.ts'

/**
 * Texts of an author in plain files: `secrets/*.txt` and `ordinary/*.txt`, a line of `%%` between two of them, a file for each
 * carrier. A secret stands as `«kind|form»`, one that comes twice as `«kind|form@@name»`, what is made and no secret as
 * `‹form›`. Files of `calls` hold objects.
 */
export interface AuthorTexts {
  readonly secrets: readonly SecretText[]
  readonly ordinary: readonly OrdinaryText[]
}

const MADE = /«[a-z]+\|(?<secret>[^»]*?)(?:@@(?<name>\w+))?»|‹(?<plain>[^›]*)›/g

function withCheckDigit(digits: string): string {
  const sum = [...digits].toReversed().reduce((all, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 2 : 1)
    return all + (value > 9 ? value - 9 : value)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}
const card: Kind = (dice) => {
  const begin = dice.pick(['4', '51', '52', '54', '37', '6011'])
  return withCheckDigit(begin + dice.chars('0123456789', (begin === '37' ? 14 : 15) - begin.length))
}

const FORM = /\{(?:(?<kind>jwt|card4?)|(?<pem>pem1?):(?<lines>\d+)|base64:(?<text>[^}]*)|[A-Za-z9]\d+)\}/g

/** `{a36}` as in the fourth corpus, and `{jwt}`, `{card}`, `{card4}` in groups, `{pem:12}`, `{pem1:12}` in one line, `{base64:text}`. */
const fill = (form: string, dice: Dice): string =>
  form.replace(FORM, (all: string, ...rest: unknown[]) => {
    const parts = rest.at(-1) as Record<string, string | undefined>
    if (parts['kind'] === 'jwt') return jwt(dice)
    if (parts['kind'] !== undefined)
      return parts['kind'] === 'card' ? card(dice) : card(dice).replace(/\d{4}(?=\d)/g, '$& ')
    if (parts['pem'] !== undefined)
      return pem(Number(parts['lines']), '', parts['pem'] === 'pem' ? '\n' : '\\n')(dice)
    return parts['text'] === undefined ? f(all)(dice) : Buffer.from(parts['text']).toString('base64')
  })

function readText(marked: string, carrier: string, seed: string): SecretText {
  const dice = createDice(seed)
  const named = new Map<string, string>()
  const secrets = new Set<string>()
  const text = marked.replace(MADE, (...match: unknown[]) => {
    const { secret = '', name, plain } = match.at(-1) as Record<string, string | undefined>
    if (plain !== undefined) return fill(plain, dice)
    const made = (name !== undefined && named.get(name)) || fill(secret, dice)
    if (name !== undefined) named.set(name, made)
    secrets.add(made)
    return made
  })
  const value = carrier.startsWith('calls') ? (JSON.parse(text) as JsonObject) : { content: text }
  return { carrier, text, value, secrets: [...secrets] }
}

function readFolder(folder: string, author: string): SecretText[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split(/^%%[ \t]*$/m)
        .map((text) => text.replace(/^\n+|\s+$/g, ''))
        .filter((text) => text !== '')
        .map((text, at) => readText(text, file.replace('.txt', ''), `${author} ${file} ${at}`)),
    )
}

/** All authors of a corpus, each a folder of it. */
export function readAuthors(corpus: string): readonly AuthorTexts[] {
  const folder = join(import.meta.dirname, corpus)
  return readdirSync(folder)
    .toSorted()
    .map((author) => ({
      secrets: readFolder(join(folder, author, 'secrets'), author),
      ordinary: readFolder(join(folder, author, 'ordinary'), author),
    }))
}
