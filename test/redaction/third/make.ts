export type Dice = {
  readonly below: (limit: number) => number
  readonly pick: <T>(list: readonly T[]) => T
  readonly chars: (alphabet: string, count: number) => string
}

export type Kind = (dice: Dice) => string

/** The same seed gives the same texts on every machine. */
export const createDice = (seed: string): Dice => {
  let state = 0x811c9dc5
  for (let at = 0; at < seed.length; at += 1) state = Math.imul(state ^ seed.charCodeAt(at), 0x01000193)
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
  const pick = <T>(list: readonly T[]): T => {
    const chosen = list[below(list.length)]
    if (chosen === undefined) throw new Error('nothing to pick from')
    return chosen
  }
  const chars = (alphabet: string, count: number): string =>
    Array.from({ length: count }, () => alphabet.charAt(below(alphabet.length))).join('')
  return { below, pick, chars }
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const ALPHABETS = {
  9: '0123456789',
  x: '0123456789abcdef',
  X: '0123456789ABCDEF',
  B: `${UPPER}234567`,
  U: `${UPPER}0123456789`,
  l: `${LOWER}0123456789`,
  z: `${UPPER}${LOWER}`,
  a: `${UPPER}${LOWER}0123456789`,
  w: `${UPPER}${LOWER}0123456789_-`,
  b: `${UPPER}${LOWER}0123456789+/`,
  s: `${UPPER}${LOWER}0123456789!@#%^*-_+=?`,
  y: LOWER,
  n: '123456789',
  q: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
} as const

/** A vendor's form: `{a36}` stands for 36 characters of the alphabet named `a`, the rest for itself. */
export const form =
  (pattern: string): Kind =>
  (dice) =>
    pattern.replace(/\{([A-Za-z9])(\d+)\}/g, (_, name: keyof typeof ALPHABETS, count: string) =>
      dice.chars(ALPHABETS[name], Number(count)),
    )

export const oneOf =
  (...kinds: readonly Kind[]): Kind =>
  (dice) =>
    dice.pick(kinds)(dice)

export const base64 =
  (kind: Kind): Kind =>
  (dice) =>
    btoa(kind(dice))

/** Lines of 64 base64 characters, as inside a PEM block. */
export const pemLines =
  (lines: number, begin = '', lineEnd = '\n'): Kind =>
  (dice) =>
    begin +
    Array.from({ length: lines }, (_, line) =>
      dice.chars(ALPHABETS.b, line === 0 ? 64 - begin.length : line === lines - 1 ? 47 : 64),
    ).join(lineEnd) +
    '='

const base64Url = (text: string): string =>
  btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

export const jwt: Kind = (dice) => {
  const head = base64Url(dice.pick(['{"alg":"HS256","typ":"JWT"}', '{"alg":"RS256","kid":"k1","typ":"JWT"}']))
  const body = base64Url(
    `{"sub":"${dice.chars(ALPHABETS[9], 6)}","iss":"https://id.example.com","exp":17${dice.chars(ALPHABETS[9], 8)}}`,
  )
  return `${head}.${body}.${dice.chars(ALPHABETS.w, 43)}`
}

const WORDS =
  'amber anchor autumn badger basil bridge candle castle cedar copper crystal dragon ember falcon forest garnet harbor hazel island jasmine kestrel lantern lemon maple meadow mercury monkey ocean orchid panther pepper phoenix pirate planet rabbit raven river rocket saffron shadow silver spring summer sunset thunder tiger violet walnut winter wizard'.split(
    ' ',
  )
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const word: Kind = (dice) => dice.pick(WORDS)
const leet = (text: string): string => text.replace('a', '@').replace('e', '3').replace('o', '0')

/** What people choose: a word, a year or a few digits, perhaps a sign at the end. */
export const weak: Kind = oneOf(
  (dice) =>
    `${capital(word(dice))}${dice.pick(['2019', '2021', '2023', '2024', '2025'])}${dice.pick(['!', '#', '', '!!'])}`,
  (dice) => `${word(dice)}${dice.chars(ALPHABETS[9], 3)}`,
  (dice) =>
    `${capital(leet(word(dice)))}${dice.pick(['!', '1', '123', '99$'])}${dice.chars(ALPHABETS[9], 2)}`,
  (dice) => `${capital(word(dice))}${capital(word(dice))}${dice.below(90) + 10}`,
)
export const phrase: Kind = (dice) =>
  [word(dice), word(dice), word(dice), word(dice)].join(dice.pick(['-', '.', '_']))
export const strong: Kind = (dice) =>
  `${dice.chars(ALPHABETS.a, 2)}${dice.chars(ALPHABETS.s, 12)}${dice.chars(ALPHABETS.a, 2)}`
export const alphanumeric: Kind = (dice) => dice.chars(ALPHABETS.a, 14 + dice.below(11))
export const password: Kind = oneOf(weak, weak, weak, strong, alphanumeric, phrase)
export const urlPassword: Kind = oneOf(
  alphanumeric,
  alphanumeric,
  phrase,
  (dice) => `${capital(word(dice))}${dice.chars(ALPHABETS[9], 4)}`,
)
export const basic = (user: string): Kind => base64((dice) => `${user}:${password(dice)}`)
