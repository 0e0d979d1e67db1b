import { isUuid } from '@clew/ledger'
import { uuid5 } from '@langchain/langgraph-checkpoint'
import { digestNamed } from './named-digest.ts'

const digest = new Int32Array(5)

/**
 * Whether `uuid5(name, namespace)` of the framework gives this id. It is asked with every task, where making the id as the
 * framework does takes many times as long. Throws for a namespace that is no UUID.
 */
export function isDerived(id: string, name: string, namespace: string): boolean {
  if (!isUuid(namespace) || !digestNamed(digest, namespace, name)) return uuid5(name, namespace) === id
  if (id.length !== 36) return false
  for (let at = 0, nibble = 0; at < 36; at++) {
    const code = id.charCodeAt(at)
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (code !== DASH) return false
      continue
    }
    const own = ((digest[nibble >> 3] as number) >>> (28 - 4 * (nibble & 7))) & 15
    const told = nibble === VERSION ? 5 : nibble === VARIANT ? (own & 3) | 8 : own
    if (code !== (told < 10 ? ZERO + told : LETTER_A - 10 + told)) return false
    nibble++
  }
  return true
}

const [DASH, ZERO, LETTER_A] = [0x2d, 0x30, 0x61]
/** Digits of the id that say what kind it is. */
const [VERSION, VARIANT] = [12, 16]
