import { decodeBase64, entropyOf } from './checks.ts'
import type { Finder, Span } from './spans.ts'

/**
 * Keys that are one long word: those with a mark in front but no sign behind it, and those of makers that give no mark at all
 * (40 letters and digits of Cohere or Cloudflare). Such a word is a key only if it was surely drawn at random from small and
 * capital letters and digits, and if nothing says that it is something else: ids, digests and cursors must stay as they are.
 */
const SHORTEST = 32
const LONGEST = 100

const IN_WORD = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')
  IN_WORD[char.charCodeAt(0)] = 1
const inWord = (code: number): boolean => code < 128 && IN_WORD[code] === 1

const HEX = /^(?:0x)?[0-9a-fA-F-]+$/

/** Marks without a sign behind them. */
const MARKED: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['databricks-token', /(?:^|[_-])dapi[0-9a-f]{32}(?:-\d)?$/],
  ['wallet-key', /^[tuvxyz]prv[1-9A-Za-z][A-Za-z0-9]{99,119}$/i],
  ['wallet-key', /^(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KL][1-9A-HJ-NP-Za-km-z]{51})$/],
  ['wallet-key', /^S[A-Z2-7]{55}$/],
  ['nats-seed', /^S[UAOCNX][A-Z2-7]{56}$/],
  ['nuget-key', /^oy2[a-z0-9]{43}$/],
  ['artifactory-key', /^(?:AKCp[A-Za-z0-9]{69}|cmVmdGtu[A-Za-z0-9]{56})$/],
  ['easypost-key', /^EZ[AT]K[A-Za-z0-9]{54}$/],
  ['trello-token', /^ATTA[0-9a-f]{72}$/],
  ['gitlab-token', /^GR1348941[\w-]{20,}$/],
  ['cargo-token', /^cio[A-Za-z0-9]{32}$/],
  ['woocommerce-key', /^c[ks]_[0-9a-f]{40}$/],
  ['volcengine-key', /^AKLT[A-Za-z0-9_-]{32,60}$/],
  ['wallet-key', /^nsec1[02-9ac-hj-np-z]{58}$/],
  ['instagram-token', /^IGQ[VW][\w-]{100,}$/],
  ['maxmind-key', /^[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk$/],
]

const MAILGUN = /^[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}$/

/** `msg_…`, `chatcmpl-…`, `cs_live_…`: the name of what it is the id of, unless the name says that it opens a door. */
const PREFIX = /^(?:[a-z]{2,12}[_-])+/
const OPENS = /(?:^|[_-])(?:sk|pat|key|keys|apikey|api|token|tok|secret|auth|access|admin)[_-]/

/** `acme_live_…`: a key of one of two systems, unless it is one of the ids that Stripe makes so. */
const MODE = /^(?!cs_|ppage_)[a-z]{2,10}[_-](?:live|test|prod|sandbox)[_-]$/

/** Public by their form: IPFS, OpenSSH, symbols of C++, Rust and Swift, base64 of JSON and of XML. */
const PUBLIC =
  /^(?:Qm[A-Za-z0-9]{44}$|AAAA|__?Z|_R|eyJ|PD94|PHN2|iVBOR|R0lGOD|UklGR|JVBER|H4sI|MII|RW[A-Za-z0-9]{54}$)/

/** `Linux-pnpm-353a…`: what a digest is of. */
const isCacheKey = (word: string): boolean =>
  /^(?:[A-Za-z][A-Za-z0-9.]{1,15}[-_]){2,6}[0-9a-f]{32,64}$/.test(word) && !OPENS.test(word.toLowerCase())

/** `msg_8Fk2…`: a name in front of what was drawn, and none of a secret. */
export const isIdOfThing = (word: string): boolean => {
  const prefix = PREFIX.exec(word)?.[0]
  return (
    (prefix !== undefined &&
      !OPENS.test(prefix) &&
      !MODE.test(prefix) &&
      word.length - prefix.length >= 12) ||
    isCacheKey(word)
  )
}

function isDrawn(word: string): boolean {
  const { length } = word
  if (length > LONGEST || !/[a-z]/.test(word) || !/[A-Z]/.test(word) || !/\d/.test(word)) return false
  if (PUBLIC.test(word) || isCacheKey(word)) return false
  const prefix = PREFIX.exec(word)?.[0]
  if (prefix !== undefined && !OPENS.test(prefix)) return false
  const body = prefix === undefined ? word : word.slice(prefix.length)
  return (
    body.length >= 24 && changesOften(body) && !hasWords(body) && entropyOf(body) >= 4 && !isEncodedText(body)
  )
}

/** In what was drawn, three of five neighbours are of different classes; in `getUserByIdV2`, one of three. */
function changesOften(word: string): boolean {
  let changes = 0
  let pairs = 0
  for (let at = 1; at < word.length; at++) {
    const [left, right] = [classOf(word.charCodeAt(at - 1)), classOf(word.charCodeAt(at))]
    if (left === 3 || right === 3) continue
    pairs++
    if (left !== right) changes++
  }
  return pairs >= word.length * 0.75 && changes >= pairs * 0.42
}

/** Three small letters and more in a row make up most of `getUserByIdV2` and little of what was drawn. */
const hasWords = (word: string): boolean =>
  (word.match(/[a-z]{3,}/g)?.join('').length ?? 0) > word.length * 0.42

const classOf = (code: number): 0 | 1 | 2 | 3 =>
  code >= 97 && code <= 122 ? 0 : code >= 65 && code <= 90 ? 1 : code >= 48 && code <= 57 ? 2 : 3

/** Base64 of something readable, such as the global ids of GraphQL. */
function isEncodedText(word: string): boolean {
  const text = decodeBase64(word) ?? ''
  const readable = text.match(/[\x20-\x7e\t\r\n]/g)?.length ?? 0
  return readable >= text.length * 0.8
}

/** A word that tells what stands behind it: an id, a digest, an address. */
const ID_WORDS =
  '(?:ids?|uid|guid|hash|digest|sha[0-9]*|md5|etag|cursor|nonce|signature|sig|checksum|integrity|fingerprint|thumbprint|commit|revision|rev|ref|version|address|addr|wallet|account|pubkey|public[-_ ]?key|recipient|cid|tx|txn|transaction|block|mint|contract|page[-_ ]?token|next[-_ ]?token|sync[-_ ]?token|continuation[-_ ]?token|file|folder|document|doc|sheet|spreadsheet|video|playlist|image|img|thread|message|event|run|session|trace|span|request|build|deployment|snapshot|artifact|object|node|state|data|bytes|blob|mappings|url|uri|href|src|link|path|slug|name|model|challenge|verifier)'
const NAMES_ID = new RegExp(`${ID_WORDS}$`, 'i')
export const isIdName = (name: string): boolean => NAMES_ID.test(name)

/** What may stand before and behind a word that stands for itself; a path, an address, a number or base64 goes on. */
const BEFORE = /(?:^|[\s"'`|<>,;()[\]{}\\*]|[\u0080-\uffff])$/
/** The value of an ETag header. */
const WEAK = /W\/\\{0,3}"$/
const BEHIND = /^(?:$|[\s"'`|<>,;)\]}\\*]|[\u0080-\uffff]|[.:!?](?:$|[\s"'`\\<]))/
/** `name: "`, `"name":"`, `name=` and `name ` in front of the word. */
const NAMED = /(?:\\[bfnrt])?([A-Za-z][\w-]*)\\{0,3}["'`]?(?: {0,2}[:=] {0,2}| )[\\"'`*]{0,5}$/
const ENV = /(?:^|[\s"'`\\]|\\[bfnrt]|[\u0080-\uffff])[A-Z][A-Z0-9_]{2,60}=$/

/** A record of DNS, a block of PEM that is no secret, and what a command prints that asks for an address or a public key. */
const PUBLIC_PLACE =
  /-----BEGIN [A-Z0-9 ]{0,24}(?:PUBLIC KEY|CERTIFICATE|REQUEST|PARAMETERS)-----(?:\r?\n|\\n)$|\sTXT\s+\\{0,9}"$|(?:address|pubkey|public-?key)(?: [^\r\n]{0,24})?(?:\r?\n|\\n)$/

/** The public half of a JSON Web Key. */
const PUBLIC_MEMBER = /["'][xyn]\\{0,9}["'] ?: ?\\{0,9}["']$/

function standsAlone(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 72), start).replace(/\\[bfnrt]$/, ' ')
  if ((!BEFORE.test(before) && !ENV.test(before)) || WEAK.test(before)) return false
  if (!BEHIND.test(text.slice(end, end + 2))) return false
  if (PUBLIC_MEMBER.test(before) || PUBLIC_PLACE.test(before)) return false
  const name = NAMED.exec(before)?.[1] ?? /([A-Za-z_]\w*)=$/.exec(before)?.[1]
  return name === undefined || !isIdName(name)
}

/** A line of a certificate or of an attachment: above or below it stands another of these long lines. */
const isLineOfBlock = (text: string, start: number, end: number): boolean =>
  /[A-Za-z0-9+/=_-]{56}(?:\\[rn]|\s){1,4}$/.test(text.slice(Math.max(0, start - 64), start)) ||
  /^(?:\\[rn]|\s){1,4}[A-Za-z0-9+/=_-]{56}/.test(text.slice(end, end + 64))

/** While the line below comes in, nothing tells whether it makes a block of the two. */
const UNDECIDED = /(?<![\w-])(?<run>[\w-]{32,201})(?:\\[rn]|\s){1,4}[A-Za-z0-9+/=_-]{0,55}$/g
const LONGEST_UNDECIDED = 272

/** The only ASCII characters with which `BEFORE` and `ENV` end, and `BEHIND` begins; the letters are those of an escape. */
const BOUNDS_BEFORE = new Set(Array.from(' \t\n\r\v\f"\'`|<>,;()[]{}\\*=bfnrt', (char) => char.charCodeAt(0)))
const BOUNDS_BEHIND = new Set(Array.from(' \t\n\r\v\f"\'`|<>,;)]}\\*.:!?', (char) => char.charCodeAt(0)))
const mayBound = (text: string, at: number, bounds: ReadonlySet<number>): boolean => {
  const code = at < 0 || at >= text.length ? 32 : text.charCodeAt(at)
  return code > 127 || bounds.has(code)
}

/** What a word of at least 32 characters is, if it is a secret. */
function kindOfRun(text: string, start: number, end: number): string | undefined {
  if (end - start < SHORTEST || end - start > 200) return undefined
  // Most long words are pieces of base64, between its signs.
  if (!mayBound(text, start - 1, BOUNDS_BEFORE) || !mayBound(text, end, BOUNDS_BEHIND))
    return /(?:^|[_-])dapi[0-9a-f]{32}(?:-\d)?$/.test(text.slice(start, end)) ? 'databricks-token' : undefined
  const word = text.slice(start, end)
  if (HEX.test(word)) return MAILGUN.test(word) ? 'mailgun-key' : undefined
  if (!/\d/.test(word)) return undefined
  const marked = MARKED.find(([, pattern]) => pattern.test(word))
  if (marked) return marked[0]
  return isDrawn(word) && standsAlone(text, start, end) ? 'unmarked-key' : undefined
}

/** Calls `visit` with each word of at least 32 characters until it says true. Looks at one character in about thirty. */
function eachRun(text: string, visit: (start: number, end: number) => boolean): boolean {
  for (let at = SHORTEST - 1; at < text.length; ) {
    let gap = at
    while (gap > at - SHORTEST && inWord(text.charCodeAt(gap))) gap--
    if (gap > at - SHORTEST) {
      at = gap + SHORTEST
      continue
    }
    let end = at + 1
    while (end < text.length && inWord(text.charCodeAt(end))) end++
    let start = gap + 1
    // The letter of an escaped line end belongs to no word.
    if (text.charCodeAt(gap) === 92 && /[bfnrt]/.test(text.charAt(start))) start++
    if (visit(start, end)) return true
    at = end + SHORTEST
  }
  return false
}

const finderOf = (isWanted: (kind: string | undefined) => boolean): Finder => ({
  needs: /\d/,
  mayFind: (text) => eachRun(text, (start, end) => isWanted(kindOfRun(text, start, end))),
  find(text) {
    const spans: Span[] = []
    eachRun(text, (start, end) => {
      const kind = kindOfRun(text, start, end)
      if (kind === undefined || !isWanted(kind)) return false
      if (kind === 'databricks-token') spans.push({ start: text.lastIndexOf('dapi', end), end, kind })
      else if (kind !== 'unmarked-key' || !isLineOfBlock(text, start, end)) spans.push({ start, end, kind })
      return false
    })
    return spans
  },
  open(text, from) {
    UNDECIDED.lastIndex = Math.max(from, text.length - LONGEST_UNDECIDED)
    const match = UNDECIDED.exec(text)
    if (!match) return text.length
    const { index, groups } = match
    const start = text.charAt(index - 1) === '\\' ? index + 1 : index
    const kind = kindOfRun(text, start, index + (groups?.['run'] ?? '').length)
    return kind === 'unmarked-key' ? start : text.length
  },
})

export const longRuns = finderOf((kind) => kind !== undefined)
/** For what is called an id. */
export const markedRuns = finderOf((kind) => kind !== undefined && kind !== 'unmarked-key')
