import { hash } from 'node:crypto'
import { isUuid } from '@clew/ledger'
import { uuid5 } from '@langchain/langgraph-checkpoint'

/** `uuid5` of the framework, which takes five times as long and is asked for with every task. */
export function derivedId(name: string, namespace: string): string {
  if (!isUuid(namespace)) return uuid5(name, namespace)
  const bytes = Buffer.allocUnsafe(16 + Buffer.byteLength(name))
  bytes.write(namespace.replaceAll('-', ''), 'hex')
  bytes.write(name, 16)
  const digest = hash('sha1', bytes, 'buffer')
  digest[6] = ((digest[6] as number) & 0x0f) | 0x50
  digest[8] = ((digest[8] as number) & 0x3f) | 0x80
  const hex = digest.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
