import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** Attributes that say on which machine and in which process something ran. */
const MACHINE = /^(?:host|process|os|container|k8s|cloud|device)\./

/** An export without what tells of the machine that recorded it. */
export function redactBody(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replaceAll(ROOT, '/app').replaceAll(/(127\.0\.0\.1|localhost|\[::1\]):\d+/g, '$1:8080')
  if (Array.isArray(value)) return value.filter((item) => !isOfMachine(item)).map(redactBody)
  if (typeof value !== 'object' || value === null) return value
  if (keyOf(value) === 'server.port') return { key: 'server.port', value: { intValue: 8080 } }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactBody(item)]))
}

const isOfMachine = (item: unknown): boolean => MACHINE.test(keyOf(item) ?? '')

function keyOf(item: unknown): string | undefined {
  const key: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'key') : undefined
  return typeof key === 'string' ? key : undefined
}
