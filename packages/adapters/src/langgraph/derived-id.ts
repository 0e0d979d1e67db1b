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
  return (
    id.length === 36 &&
    digest.startsWith(id.slice(0, 8)) &&
    digest.startsWith(id.slice(9, 13), 8) &&
    digest.startsWith(id.slice(15, 18), 13) &&
    digest.startsWith(id.slice(20, 23), 17) &&
    digest.startsWith(id.slice(24), 20) &&
    id[8] === '-' &&
    id[13] === '-' &&
    id[14] === '5' &&
    id[18] === '-' &&
    id[19] === '89ab'[Number.parseInt(digest.charAt(16), 16) & 3] &&
    id[23] === '-'
  )
}
