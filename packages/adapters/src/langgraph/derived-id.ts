import { hash } from 'node:crypto'
import { isUuid } from '@clew/ledger'
import { uuid5 } from '@langchain/langgraph-checkpoint'

const NAMESPACE = 16
/** A name takes at most three bytes per character. */
const MOST_CHARS = 1024
const place = Buffer.alloc(NAMESPACE + 3 * MOST_CHARS)
let placed = ''

/**
 * Whether `uuid5(name, namespace)` of the framework gives this id. It is asked with every task, where making the id as the
 * framework does takes many times as long. Throws for a namespace that is no UUID.
 */
export function isDerived(id: string, name: string, namespace: string): boolean {
  if (name.length > MOST_CHARS || !isUuid(namespace)) return uuid5(name, namespace) === id
  // One checkpoint is asked about for all of its tasks.
  if (placed !== namespace) {
    place.write(namespace.replaceAll('-', ''), 'hex')
    placed = namespace
  }
  const length = place.write(name, NAMESPACE)
  // As text, for a buffer takes three times as long to be given back.
  const digest = hash('sha1', place.subarray(0, NAMESPACE + length))
  const variant = '89ab'[Number.parseInt(digest.charAt(16), 16) & 3] as string
  return (
    id ===
    `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  )
}
