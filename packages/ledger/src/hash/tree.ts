import type { JsonObject, JsonValue } from '../json.ts'
import { setKey } from '../json.ts'
import type { Ports } from '../ports.ts'
import type { TextMemo } from './text-memo.ts'

/**
 * Value trees (L8) and the Merkle root over them (L6): one structure serves both.
 *
 * The text of a value is what `JSON.stringify` prints, keys in their own order. A value whose text has at
 * most LEAF characters stands in its parent as text; a larger one is a *node*, named by its hash:
 *
 *   leaf text      a string of up to PIECE characters, or any value of up to LEAF: its JSON text
 *   a / o / s      entries of an array, an object, pieces of a long string, one per line:
 *                  `=text` or `#hash`, in an object behind the key's JSON text
 *   A / O / S      groups of the same, one `#hash` per line, when there is more than one group
 *
 * hash(node) = sha256(body). A stored node has the same body with the ids of its children in place of their
 * hashes, so the root does not depend on what is stored where. Groups end where the *content* says so, hence
 * removing the head of a list or changing one key of a state changes one group and the path above it.
 */
export const LEAF = 512
const PIECE = 4096
/** A whole value up to this size is stored as one text: nothing in it is worth sharing. */
export const INLINE = 2048
/** Groups have about this much text, or this many references; a group is cut where neither comes to pass. */
const GROUP_TEXT = 1024
const GROUP_REFERENCES = 32
const GROUP_MOST_TEXT = 8 * GROUP_TEXT
const GROUP_MOST_ENTRIES = 4 * GROUP_REFERENCES

export interface TreeNode {
  readonly hash: string
  /** Length of the value's whole text. */
  readonly size: number
  readonly kind: string
  readonly entries: readonly Entry[]
}
interface Entry {
  /** An object's key as JSON text; empty elsewhere. */
  readonly key: string
  /** JSON text that stands here itself, or the node that is referred to. */
  readonly item: string | TreeNode
}

const sizeOf = (item: string | TreeNode): number => (typeof item === 'string' ? item.length : item.size)

/**
 * The node of a value, or its text when that is short enough to stand in the parent. Built from the leaves up,
 * so that no text is made twice. `leaves` remembers the nodes of strings that come again.
 */
export function toTree(
  sha256: Ports['sha256'],
  value: JsonValue,
  leaves?: TextMemo<TreeNode>,
): string | TreeNode {
  if (typeof value === 'string') return stringTree(sha256, value, leaves)
  if (typeof value !== 'object' || value === null) return String(value)
  const entries: Entry[] = []
  let size = 1
  if (Array.isArray(value)) {
    for (const each of value) {
      const item = toTree(sha256, each, leaves)
      entries.push({ key: '', item })
      size += sizeOf(item) + 1
    }
    if (value.length === 0) return '[]'
    return size <= LEAF
      ? `[${entries.map(({ item }) => item as string).join(',')}]`
      : group(sha256, 'a', entries, size)
  }
  for (const name of Object.keys(value)) {
    const key = keyText(name)
    const item = toTree(sha256, value[name] as JsonValue, leaves)
    entries.push({ key, item })
    size += key.length + 1 + sizeOf(item) + 1
  }
  if (entries.length === 0) return '{}'
  if (size > LEAF) return group(sha256, 'o', entries, size)
  return `{${entries.map(({ key, item }) => `${key}:${item as string}`).join(',')}}`
}

const KEYS = 2000
const keyTexts = new Map<string, string>()

/** JSON text of a key: few names stand in nearly all payloads. */
function keyText(name: string): string {
  const known = keyTexts.get(name)
  if (known !== undefined) return known
  const text = JSON.stringify(name)
  if (keyTexts.size < KEYS && name.length < 64) keyTexts.set(name, text)
  return text
}

/**
 * The root of L6: a short value stands as its text, as it does in a parent, a larger one as its hash; the two cannot
 * be taken for each other, for a payload's text begins with a brace.
 */
export function merkleRoot(sha256: Ports['sha256'], value: JsonValue, text: string): string {
  return text.length <= LEAF ? text : (toTree(sha256, value) as TreeNode).hash
}

function stringTree(
  sha256: Ports['sha256'],
  value: string,
  leaves: TextMemo<TreeNode> | undefined,
): string | TreeNode {
  const known = leaves?.get(value)
  if (known) return known
  const text = JSON.stringify(value)
  if (text.length <= LEAF) return text
  if (value.length <= PIECE) {
    const leaf = leafNode(sha256, text)
    leaves?.set(value, leaf)
    return leaf
  }
  const pieces: Entry[] = []
  for (let at = 0; at < value.length; ) {
    let end = Math.min(at + PIECE, value.length)
    const last = value.charCodeAt(end - 1)
    if (end < value.length && last >= 0xd800 && last < 0xdc00) end--
    pieces.push({ key: '', item: leafNode(sha256, JSON.stringify(value.slice(at, end))) })
    at = end
  }
  return group(sha256, 's', pieces, text.length)
}

const leafNode = (sha256: Ports['sha256'], text: string): TreeNode => ({
  hash: sha256(text),
  size: text.length,
  kind: '',
  entries: [{ key: '', item: text }],
})

function group(sha256: Ports['sha256'], kind: string, entries: readonly Entry[], size: number): TreeNode {
  const nodes: TreeNode[] = []
  let start = 0
  let inline = 0
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as Entry
    const count = i - start + 1
    const own = entry.key.length + (typeof entry.item === 'string' ? entry.item.length : 0)
    inline += own
    // At least two, or a level would not be shorter than the one below it.
    const ends =
      count >= 2 && (count >= GROUP_MOST_ENTRIES || inline >= GROUP_MOST_TEXT || endsGroup(entry, own))
    if (!ends && i < entries.length - 1) continue
    nodes.push(makeNode(sha256, kind, entries.slice(start, i + 1), size))
    start = i + 1
    inline = 0
  }
  if (nodes.length === 1) return nodes[0] as TreeNode
  const upper = nodes.map((item) => ({ key: '', item }))
  return group(sha256, kind.toUpperCase(), upper, size)
}

function makeNode(sha256: Ports['sha256'], kind: string, entries: readonly Entry[], size: number): TreeNode {
  return { hash: sha256(nodeBody(kind, entries, (node) => node.hash)), size, kind, entries }
}

/**
 * Whether a group ends with this entry, judged by the entry alone: by the key in an object, by the content
 * elsewhere. A large entry ends one more often, so that groups come out alike in size.
 */
function endsGroup({ key, item }: Entry, inline: number): boolean {
  const oneIn = Math.min(GROUP_REFERENCES, Math.max(2, Math.floor(GROUP_TEXT / (inline + 1))))
  if (key === '' && typeof item !== 'string') return Number.parseInt(item.hash.slice(0, 6), 16) % oneIn === 0
  const text = key || (item as string)
  let hash = 0x811c9dc5 ^ text.length
  for (let i = 0; i < text.length && i < 48; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  for (let i = Math.max(48, text.length - 48); i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return ((hash ^ (hash >>> 15)) >>> 0) % oneIn === 0
}

/** Body of a node; `name` gives what stands behind `#` for a child: its hash, or its id in a store. */
function nodeBody(
  kind: string,
  entries: readonly Entry[],
  name: (node: TreeNode) => string | number,
): string {
  if (kind === '') return (entries[0] as Entry).item as string
  let body = kind
  for (const { key, item } of entries)
    body += typeof item === 'string' ? `\n${key}=${item}` : `\n${key}#${name(item)}`
  return body
}

/** Stores a node and the nodes below it, children first; `find` returns those already stored. */
function storeTree(
  node: TreeNode,
  find: (hash: string) => number | undefined,
  insert: (hash: string, body: string) => number,
): number {
  return (
    find(node.hash) ??
    insert(
      node.hash,
      nodeBody(node.kind, node.entries, (child) => storeTree(child, find, insert)),
    )
  )
}

/** Body for the payload itself: the whole text, or the top node with ids. */
export function storeRoot(
  tree: TreeNode,
  find: (hash: string) => number | undefined,
  insert: (hash: string, body: string) => number,
): string {
  return nodeBody(tree.kind, tree.entries, (child) => storeTree(child, find, insert))
}

export interface StoredNode {
  readonly hash: string
  readonly body: string
}

interface Line {
  readonly key: string
  readonly mark: string
  readonly rest: string
}

const isTree = (body: string): boolean => 'aosAOS'.includes(body[0] as string) && body[1] === '\n'

function lines(body: string): Line[] {
  return body
    .slice(2)
    .split('\n')
    .map((line) => {
      const at = line[0] === '"' ? endOfString(line) : 0
      return { key: line.slice(0, at), mark: line[at] as string, rest: line.slice(at + 1) }
    })
}

function endOfString(line: string): number {
  for (let i = 1; i < line.length; i++) {
    if (line[i] === '\\') i++
    else if (line[i] === '"') return i + 1
  }
  return line.length
}

/** Ids of the nodes that a stored body refers to. */
export function childIds(body: string): number[] {
  if (!isTree(body)) return []
  return lines(body)
    .filter((line) => line.mark === '#')
    .map((line) => Number(line.rest))
}

/** The value of a stored body; `child` gives the decoded value of a node below it. */
export function fromBody(body: string, child: (id: number) => JsonValue): JsonValue {
  if (!isTree(body)) return JSON.parse(body) as JsonValue
  const item = ({ mark, rest }: Line): JsonValue =>
    mark === '=' ? (JSON.parse(rest) as JsonValue) : child(Number(rest))
  switch (body[0]) {
    case 'a':
      return lines(body).map(item)
    case 'A':
      return lines(body).flatMap((line) => item(line) as JsonValue[])
    case 'o': {
      const object: JsonObject = {}
      for (const line of lines(body)) setKey(object, JSON.parse(line.key) as string, item(line))
      return object
    }
    case 'O': {
      const object: JsonObject = {}
      for (const line of lines(body)) {
        const part = item(line) as JsonObject
        for (const key of Object.keys(part)) setKey(object, key, part[key] as JsonValue)
      }
      return object
    }
    default:
      return lines(body)
        .map((line) => item(line) as string)
        .join('')
  }
}

/** The body of an object without the entries of other keys; unchanged if the entries cannot be separated. */
export function pickKeys(body: string, keys: ReadonlySet<string>): string {
  if (!body.startsWith('o\n')) return body
  const kept = lines(body).filter(({ key }) => keys.has(JSON.parse(key) as string))
  if (kept.length === 0) return '{}'
  return `o${kept.map(({ key, mark, rest }) => `\n${key}${mark}${rest}`).join('')}`
}

/** Root of a stored body, recomputed from its bytes; `hashOf` gives the recomputed hash of a node below it. */
export function rootOfBody(sha256: Ports['sha256'], body: string, hashOf: (id: number) => string): string {
  if (isTree(body)) return hashOfBody(sha256, body, hashOf)
  if (body.length <= LEAF) return body
  const value = parseOrUndefined(body)
  // A text that is not as it would be written again was not written here; as its own root it fits nothing.
  return value !== undefined && JSON.stringify(value) === body ? merkleRoot(sha256, value, body) : body
}

function parseOrUndefined(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** Hash of a stored node, from its body. */
export function hashOfBody(sha256: Ports['sha256'], body: string, hashOf: (id: number) => string): string {
  if (!isTree(body)) return sha256(body)
  const text = lines(body).map(
    ({ key, mark, rest }) => `\n${key}${mark}${mark === '#' ? hashOf(Number(rest)) : rest}`,
  )
  return sha256(body[0] + text.join(''))
}
