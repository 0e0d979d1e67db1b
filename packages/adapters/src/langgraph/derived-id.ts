import { hash } from 'node:crypto'
import { isUuid } from '@clew/ledger'
import { uuid5 } from '@langchain/langgraph-checkpoint'

const VARIANTS = '89ab'

/** `uuid5` of the framework, which takes many times as long and is asked for with every task. */
export function derivedId(name: string, namespace: string): string {
  if (!isUuid(namespace)) return uuid5(name, namespace)
  const bytes = Buffer.allocUnsafe(16 + Buffer.byteLength(name))
  bytes.write(namespace.replaceAll('-', ''), 'hex')
  bytes.write(name, 16)
  // As text, for a buffer takes three times as long to be given back.
  const hex = hash('sha1', bytes)
  const variant = VARIANTS[Number.parseInt(hex.charAt(16), 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
