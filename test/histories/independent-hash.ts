import { createHash } from 'node:crypto'

/**
 * The hash format once more (L6, docs/decisions/2026-11-15-event-catalogue.md), with nothing but sha256 and none of
 * the ledger's code: a change there that nobody meant to make does not happen here as well.
 */
const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

export interface SealedLine {
  readonly event_id: string
  readonly event_type: string
  readonly timestamp: string
  readonly source: { readonly origin: string; readonly runtime: string }
  readonly correlation_id: string
  readonly causation_id: string | null
  readonly payload: unknown
  readonly ledger: {
    readonly seq: number
    readonly recorded_at: string
    readonly hash: string
    readonly schema_version: number
    readonly payload_hash: string
    readonly salt: string | null
  }
}

export const payloadHashOf = ({ payload, ledger }: SealedLine): string => sha256(`${ledger.salt}${rootOf(payload)}`)

export function hashOf(line: SealedLine, previous: string): string {
  const { event_id, event_type, timestamp, source, correlation_id, causation_id, ledger } = line
  const { seq, recorded_at, schema_version, payload_hash } = ledger
  const place = [previous, seq, recorded_at, schema_version, payload_hash]
  const envelope = [event_id, event_type, timestamp, source.origin, source.runtime, correlation_id, causation_id ?? '']
  return sha256([...place, ...envelope].join('\n'))
}

/** A line of a node: `=text` for a short value, `#hash` for a long one, behind the key's text in an object. */
interface Line {
  readonly key: string
  readonly text?: string
  readonly hash?: string
}

function rootOf(value: unknown): string {
  const { text, hash } = lineOf('', value)
  return hash ?? text ?? ''
}

function lineOf(key: string, value: unknown): Line {
  const text = JSON.stringify(value)
  if (text.length <= 512) return { key, text }
  if (typeof value === 'string') {
    if (value.length <= 4096) return { key, hash: sha256(text) }
    // Pieces of 4096 UTF-16 units; a pair of surrogates is not torn apart.
    const pieces = value.match(/[\s\S]{1,4095}(?:[^\ud800-\udbff]|(?![\s\S]))/g) ?? []
    return { key, hash: nodeOf('s', pieces.map((piece) => ({ key: '', hash: sha256(JSON.stringify(piece)) }))) }
  }
  if (Array.isArray(value)) return { key, hash: nodeOf('a', value.map((item) => lineOf('', item))) }
  return { key, hash: nodeOf('o', Object.entries(value as object).map(([name, item]) => lineOf(JSON.stringify(name), item))) }
}

/** Lines are grouped where their content says so; several groups make a node of capital kind above them. */
function nodeOf(kind: string, lines: readonly Line[]): string {
  const groups: Line[][] = [[]]
  for (const line of lines) {
    let group = groups.at(-1) as Line[]
    if (isFull(group)) groups.push((group = []))
    group.push(line)
  }
  const hashes = groups.map((group) =>
    sha256([kind, ...group.map(({ key, text, hash }) => (hash === undefined ? `${key}=${text}` : `${key}#${hash}`))].join('\n')),
  )
  return hashes.length === 1 ? (hashes[0] as string) : nodeOf(kind.toUpperCase(), hashes.map((hash) => ({ key: '', hash })))
}

function isFull(group: readonly Line[]): boolean {
  const last = group.at(-1)
  if (!last || group.length < 2) return false
  const size = group.reduce((sum, line) => sum + sizeOf(line), 0)
  return group.length >= 128 || size >= 8192 || endsGroup(last)
}

const sizeOf = ({ key, text = '' }: Line): number => key.length + text.length

/**
 * One line in 32 ends its group, of long ones more: 1024 characters over the line's own, at least one in 2. Judged by
 * the first three bytes of a hash, else by a 32-bit FNV-1a over the first and last 48 units of the key or the value.
 */
function endsGroup(line: Line): boolean {
  const { key, text, hash } = line
  const oneIn = Math.min(32, Math.max(2, Math.floor(1024 / (sizeOf(line) + 1))))
  if (key === '' && hash !== undefined) return Number.parseInt(hash.slice(0, 6), 16) % oneIn === 0
  const judged = key || (text ?? '')
  const units = judged.length <= 96 ? judged : judged.slice(0, 48) + judged.slice(-48)
  let fnv = 0x811c9dc5 ^ judged.length
  for (let i = 0; i < units.length; i++) fnv = Math.imul(fnv ^ units.charCodeAt(i), 0x01000193)
  return ((fnv ^ (fnv >>> 15)) >>> 0) % oneIn === 0
}
