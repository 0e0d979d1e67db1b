import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import {
  fromBody,
  hashOfBody,
  INLINE,
  merkleRoot,
  rootOfBody,
  storeRoot,
  toTree,
  type TreeNode,
} from './tree.ts'

const sha256 = (text: string): string => hash('sha256', text)

/** A store of nodes in the plainest form. */
function shelf() {
  const nodes: { hash: string; body: string }[] = []
  const ids = new Map<string, number>()
  const find = (name: string): number | undefined => ids.get(name)
  const insert = (name: string, body: string): number => {
    nodes.push({ hash: name, body })
    ids.set(name, nodes.length - 1)
    return nodes.length - 1
  }
  const value = (id: number): JsonValue => fromBody(nodes[id]?.body as string, value)
  const hashOf = (id: number): string => hashOfBody(sha256, nodes[id]?.body as string, hashOf)
  return {
    nodes,
    put(json: JsonValue): string {
      const tree = toTree(sha256, json)
      return typeof tree === 'string' ? tree : storeRoot(tree, find, insert)
    },
    get: (body: string): JsonValue => fromBody(body, value),
    root: (body: string): string => rootOfBody(sha256, body, hashOf),
    bytes: (): number => nodes.reduce((sum, node) => sum + node.body.length, 0),
  }
}

const json = fc.jsonValue({ maxDepth: 6 }) as fc.Arbitrary<JsonValue>
const anyText = fc.string({ unit: 'binary', maxLength: 9000 })
const large = fc.oneof(
  json,
  fc.array(json, { maxLength: 300 }),
  fc.dictionary(fc.string(), json, { maxKeys: 300 }) as fc.Arbitrary<JsonValue>,
  anyText,
  fc.array(anyText, { maxLength: 5 }),
)

const message = (i: number): JsonValue => ({ role: 'user', content: `${i} ${'word '.repeat(60)}` })

describe('value trees', () => {
  it('L8 every value reads back equal, keys in their order', () => {
    fc.assert(
      fc.property(large, (value) => {
        const store = shelf()
        const back = store.get(store.put(value))
        expect(JSON.stringify(back)).toBe(JSON.stringify(value))
      }),
      { numRuns: 300 },
    )
  })

  it('L6 the root is the same whether the value is stored whole or in parts', () => {
    fc.assert(
      fc.property(large, (value) => {
        const text = JSON.stringify(value)
        const store = shelf()
        const root = merkleRoot(sha256, value, text)
        expect(store.root(store.put(value))).toBe(root)
        if (text.length <= INLINE) expect(store.root(text)).toBe(root)
      }),
      { numRuns: 300 },
    )
  })

  it('L6 different values have different roots, also when only the order of keys differs', () => {
    fc.assert(
      fc.property(large, large, (a, b) => {
        const [textA, textB] = [JSON.stringify(a), JSON.stringify(b)]
        expect(merkleRoot(sha256, a, textA) === merkleRoot(sha256, b, textB)).toBe(textA === textB)
      }),
    )
    const forth = { a: 'x'.repeat(600), b: 1 }
    const back = { b: 1, a: 'x'.repeat(600) }
    expect(merkleRoot(sha256, forth, JSON.stringify(forth))).not.toBe(
      merkleRoot(sha256, back, JSON.stringify(back)),
    )
  })

  it('L6 a text that looks like a stored body is not taken for one', () => {
    for (const text of ['a\n=1', 'o\n"k"=1', 'S\n#0', '#0', '=x']) {
      const store = shelf()
      const value = { text, list: [text, 'y'.repeat(3000)], [text]: text }
      expect(store.get(store.put(value))).toEqual(value)
    }
  })

  it('L6 a changed byte in any stored body changes the root', () => {
    const store = shelf()
    const body = store.put({ list: Array.from({ length: 100 }, (_, i) => message(i)) })
    const root = store.root(body)
    for (const node of store.nodes) {
      const kept = node.body
      node.body = kept.replace('word', 'work')
      if (node.body !== kept) expect(store.root(body)).not.toBe(root)
      node.body = kept
    }
    expect(store.root(body)).toBe(root)
  })

  it('L8 a list that grows by one costs the new item and a short path', () => {
    const store = shelf()
    const list: JsonValue[] = []
    for (let i = 0; i < 400; i++) {
      list.push(message(i))
      store.put({ list })
    }
    const given = JSON.stringify(list).length
    expect(store.bytes()).toBeLessThan(given * 6)
  })

  it('L8 removing the head of a list or changing one key of a state keeps the rest shared', () => {
    const store = shelf()
    const list = Array.from({ length: 500 }, (_, i) => message(i))
    store.put({ list })
    const before = store.bytes()
    store.put({ list: list.slice(1) })
    expect(store.bytes() - before).toBeLessThan(20_000)

    const state = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key ${i}`, { count: i }]))
    store.put(state)
    const middle = store.bytes()
    store.put({ ...state, 'key 5000': { count: -1 } })
    expect(store.bytes() - middle).toBeLessThan(8_000)
  })

  it('L8 a long text that grows at its end shares its beginning', () => {
    const store = shelf()
    const text = Array.from({ length: 5000 }, (_, i) => `line ${i} of the prompt`).join('\n')
    store.put({ prompt: text })
    const before = store.bytes()
    store.put({ prompt: `${text} and one more` })
    expect(store.bytes() - before).toBeLessThan(12_000)
  })

  it('L8 equal items without end stay a tree of bounded width', () => {
    const widest = (node: TreeNode): number =>
      Math.max(
        node.entries.length,
        ...node.entries.map(({ item }) => (typeof item === 'string' ? 0 : widest(item))),
      )
    for (const item of [0, 'x', { a: 1 }, 'y'.repeat(600)]) {
      const tree = toTree(sha256, Array<JsonValue>(20_000).fill(item)) as TreeNode
      expect(widest(tree)).toBeLessThanOrEqual(128)
    }
  })
})
