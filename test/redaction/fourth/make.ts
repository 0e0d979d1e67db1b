import { base64, type Kind, oneOf } from '../third/make.ts'

export { base64, oneOf } from '../third/make.ts'

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const ALPHABETS: Record<string, string> = {
  9: DIGITS,
  n: '123456789',
  x: `${DIGITS}abcdef`,
  X: `${DIGITS}ABCDEF`,
  B: `${UPPER}234567`,
  U: `${UPPER}${DIGITS}`,
  L: UPPER,
  l: `${LOWER}${DIGITS}`,
  y: LOWER,
  z: `${UPPER}${LOWER}`,
  a: `${UPPER}${LOWER}${DIGITS}`,
  w: `${UPPER}${LOWER}${DIGITS}_-`,
  b: `${UPPER}${LOWER}${DIGITS}+/`,
  s: `${UPPER}${LOWER}${DIGITS}!@#%^*-_+=?`,
  q: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
}

/** `{a36}` stands for 36 characters of the alphabet `a`, the rest for itself. */
export const f =
  (pattern: string): Kind =>
  (dice) =>
    pattern.replace(/\{([A-Za-z9])(\d+)\}/g, (_, name: string, count: string) =>
      dice.chars(ALPHABETS[name] as string, Number(count)),
    )
/** Body of a PEM block: lines of 64. */
export const pem =
  (lines: number, begin = '', lineEnd = '\n'): Kind =>
  (dice) =>
    begin +
    Array.from({ length: lines }, (_, line) =>
      dice.chars(ALPHABETS['b'] as string, line === 0 ? 64 - begin.length : line === lines - 1 ? 43 : 64),
    ).join(lineEnd) +
    '='
const base64Url = (text: string): string =>
  btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const uuidPattern = '{x8}-{x4}-4{x3}-a{x3}-{x12}'
export const uuid = f(uuidPattern)
export const jwtOf =
  (body: string, head = '{"alg":"HS256","typ":"JWT"}', signature = 43): Kind =>
  (dice) =>
    `${base64Url(head)}.${base64Url(f(body)(dice))}.${dice.chars(ALPHABETS['w'] as string, signature)}`
export const jwt: Kind = oneOf(
  jwtOf('{"sub":"usr_{l12}","role":"admin","iat":17{98},"exp":17{98}}'),
  jwtOf(
    '{"iss":"https://auth.brightloop.io/","sub":"auth0|{x24}","aud":"api","exp":17{98}}',
    '{"alg":"RS256","typ":"JWT","kid":"mN3"}',
    342,
  ),
  jwtOf('{"id":{n1}{94},"email":"ops@tallyport.eu","iat":17{98}}'),
  jwtOf('{"uid":"{x24}","scope":["read","write"],"exp":17{98}}', '{"typ":"JWT","alg":"HS512"}', 86),
)
const WORDS =
  'sommer winter bella charlie arsenal liverpool chelsea dolphin guitar coffee banana cookie buster ginger pumpkin mustang yankee dakota soleil papillon fromage bonjour amigo corazon estrella naranja madrid lisboa saudade fussball schatz kaninchen berlin hamburg wachtwoord oranje fiets kwiatek misiek polska ferrari juventus ciao sakura tanuki office printer server backup welcome letmein deploy staging router marvin zaphod gandalf frodo vader matrix neon pixel biscuit waffle noodle turtle otter walrus moose pickle'.split(
    ' ',
  )
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const word: Kind = (dice) => dice.pick(WORDS)
const leet = (text: string): string =>
  text.replace('a', '@').replace('e', '3').replace('o', '0').replace('i', '1').replace('s', '$')
const NAMES =
  'lena lukas sophie matteo claire bartek kasia joao ines pieter sanne yuki hiro diego lucia tom priya anna felix'.split(
    ' ',
  )
const COMPANIES = 'Kontor Nordkap Brightl00p tallyport petitport Fietsplan bancolar Kestrel nordlicht'.split(
  ' ',
)
/** What people choose. */
export const weak: Kind = oneOf(
  (d) => `${capital(word(d))}${2017 + d.below(10)}${d.pick(['!', '#', '', '!!', '*', '?'])}`,
  (d) => `${word(d)}${d.below(9000) + 1000}`,
  (d) => `${capital(leet(word(d)))}${d.pick(['!', '_', '#', ''])}${d.below(900) + 100}`,
  (d) => `${capital(word(d))}${capital(word(d))}${d.below(90) + 10}`,
  (d) => `${word(d)}_${word(d)}${d.pick(['!', '1', '77'])}`,
  (d) => `${capital(word(d))}-${capital(word(d))}-${d.below(90) + 10}`,
  (d) => `${capital(word(d))}@${d.below(900) + 100}`,
  (d) => `${d.pick(NAMES)}${d.pick(['', '.', '_'])}${1960 + d.below(50)}`,
  (d) => `${capital(d.pick(NAMES))}${d.below(21) + 10}${d.below(3) + 10}${d.pick(['', '!', '$'])}`,
  (d) =>
    `${d.pick(['qwertz', 'asdfgh', '1q2w3e', 'qwe', 'yxcvb', 'azerty', 'zaq1'])}${d.below(900) + 100}${d.pick(['', '!', '..'])}`,
  (d) => `${word(d)}${word(d)}`,
  (d) =>
    `${d.chars('BDEFGHIKLMNPRSTW', 3)}${d.chars(LOWER, 4)}${d.below(90) + 10}${d.pick(['!', ',', '%', '+'])}${d.chars(LOWER, 2)}`,
  (d) =>
    `${d.pick(COMPANIES)}${d.pick(['', '_', '#'])}${d.pick(['2024', '2025', '2026', '24', '25', '26'])}${d.pick(['', '!', '!!', '$', '-admin', '.ops'])}`,
)
/** A sentence with blanks; only where quotes or a line end close it. */
export const sentence: Kind = (d) =>
  `${word(d)} ${word(d)} ${d.pick(['eats', 'runs', 'loves', 'frisst', 'mange'])} ${d.below(90) + 10} ${word(d)}`
export const phrase: Kind = (d) => [word(d), word(d), word(d), word(d)].join(d.pick(['-', '.', '_']))
export const strong: Kind = (d) => f('{a2}{s13}{a3}')(d)
export const alnum: Kind = (d) => d.chars(ALPHABETS['a'] as string, 14 + d.below(12))
/** Manager made, short of letters, digits and one or two signs. */
export const short: Kind = (d) =>
  f(d.pick(['{a5}!{a4}', '{a3}#{a5}', '{a8}', '{a6}-{a6}-{a6}', '{y3}{L3}{93}']))(d)
export const pw: Kind = oneOf(weak, weak, weak, strong, strong, alnum, phrase, short)
export const urlpw: Kind = oneOf(
  alnum,
  alnum,
  phrase,
  f('{a22}'),
  (d) => `${capital(word(d))}${d.below(9000) + 1000}`,
  f('{a6}%21{a6}'),
)
export const pin4 = f('{n1}{93}')
export const code6 = f('{n1}{95}')
export const basic = (user: string): Kind => base64((d) => `${user}:${pw(d)}`)
export const MNEMONIC =
  'abandon ability acoustic adjust banner basket bicycle bulb cactus canvas cherry clarify decade denial dinosaur dwarf elbow empty essay exile fabric fancy finger fossil gadget garlic giraffe glimpse hammer harvest hobby humor icon immune inhale jaguar kidney kitten ladder lecture lizard lunar magnet mammal mosquito mutual napkin nephew noodle obscure olympic oyster paddle pelican puzzle quantum ranch ribbon rookie salmon scatter sibling sphere tackle tornado tumble umbrella unfold vacuum velvet walnut weasel yellow zebra'.split(
    ' ',
  )
export const seed =
  (count: number): Kind =>
  (d) =>
    Array.from({ length: count }, () => d.pick(MNEMONIC)).join(' ')

// Vendors
export const ghp = f('ghp_{a36}')
export const gho = f('gho_{a36}')
export const ghs = f('ghs_{a36}')
export const ghpat = f('github_pat_11{U20}_{a59}')
export const glpat = f('glpat-{w20}')
export const ant = f('sk-ant-api03-{w93}AA')
export const oai = f('sk-proj-{w58}T3BlbkFJ{w58}')
export const oaiOld = f('sk-{a20}T3BlbkFJ{a20}')
export const groq = f('gsk_{a52}')
export const hf = f('hf_{z34}')
export const goog = f('AIzaSy{w33}')
export const awsId = f('AKIA{B16}')
export const awsTmp = f('ASIA{B16}')
export const awsKey = f('{b40}')
export const awsSession = f('IQoJb3JpZ2luX2Vj{b320}==')
export const xoxb = f('xoxb-{n1}{911}-{n1}{912}-{a24}')
export const slackHook = f('{a24}')
export const stripe = f('sk_live_51{a14}{a85}')
export const stripeOld = f('sk_live_{a24}')
export const whsec = f('whsec_{a32}')
export const sg = f('SG.{w22}.{w43}')
export const npm = f('npm_{a36}')
export const hvs = f('hvs.CAESI{w90}')
export const dop = f('dop_v1_{x64}')
export const azKey = f('{b86}==')
export const azSecret = f('{a3}8Q~{w34}')
export const x32 = f('{x32}')
export const x40 = f('{x40}')
export const x64 = f('{x64}')
export const b44 = f('{b43}=')
export const w43 = f('{w43}')
export const a32 = f('{a32}')
export const a40 = f('{a40}')
export const telegram = f('{n1}{99}:AA{w33}')
export const discord = f('MT{a24}.G{w5}.{w38}')
export const sha = f('{x40}')
export const tfc = f('{a14}.atlasv1.{a67}')
