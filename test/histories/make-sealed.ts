import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { SealedLine } from './independent-hash.ts'
import { createLedger, createInProcessStore, type EventInput, type Payload, type Ports } from '@clew/ledger'

/**
 * Makes the sealed histories: `node --conditions=@clew/source test/histories/make-sealed.ts`. They freeze the hash
 * format, so this is run again only when that format changes, which is over once schema_version is 1.
 */
let nowMs = Date.parse('2026-11-15T09:00:00.000Z')
let salts = 0
const ports: Ports = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  // Salts that can be recognised: each is a number behind 5a5a….
  randomHex: (bytes) =>
    Array.from({ length: Math.ceil(bytes / 16) }, () => String(++salts).padStart(32, '5a')).join('').slice(-bytes * 2),
  now: () => (nowMs += 250),
  defer: (task) => void setImmediate(task),
  sleep: () => Promise.resolve(),
  context: { run: (_, fn) => fn(), current: () => undefined },
}

function history(digit: string): (runId: string, eventType: string, payload: Payload) => EventInput {
  let count = 0
  return (correlationId, eventType, payload) => {
    const id = (n: number): string => `${digit.repeat(8)}-0000-4000-8000-${String(n).padStart(12, '0')}`
    const causationId = count === 0 ? null : id(count)
    count++
    const timestamp = `2026-11-15T08:59:${String(count).padStart(2, '0')}.000Z`
    return { eventId: id(count), eventType, correlationId, causationId, timestamp, source: { origin: 'agent', runtime: 'clew' }, payload }
  }
}

async function seal(name: string, events: readonly EventInput[], change: (line: string) => string): Promise<void> {
  const heads = { verify: () => Promise.resolve(true) }
  const ledger = createLedger({ store: createInProcessStore(ports), ports, secret: 'kept elsewhere', heads })
  // One by one, so that the events have different times of recording and salts of their own.
  for (const event of events) await ledger.append([event])
  let text = ''
  for await (const line of ledger.export()) text += `${change(line.trimEnd())}\n`
  writeFileSync(new URL(`${name}.ndjson`, import.meta.url), text)
  await ledger.close()
}

/** What P5 leaves of an event: everything but payload and salt. */
function erase(line: string): string {
  const event = JSON.parse(line) as SealedLine
  const { payload_hash, salt: _, ...place } = event.ledger
  if (event.correlation_id !== 'run-letter' || ![3, 4, 5].includes(place.seq)) return line
  return JSON.stringify({ ...event, payload: {}, ledger: { ...place, erased: true, payload_hash, salt: null } })
}

const letter = history('a')
const digest = ports.sha256('{"to":"ada"}')
await seal(
  'erased-payload',
  [
    letter('run-letter', 'system.workflow_started', { agent: 'letter', subjects: ['person-1'], input: { to: 'ada' } }),
    letter('run-letter', 'execution.step_started', { stepId: 'plan#0', parentStepId: null, name: 'plan', ordinal: 0, attempt: 1, kind: 'compute', inputDigest: digest, input: { to: 'ada' } }),
    letter('run-letter', 'execution.step_completed', { stepId: 'plan#0', attempt: 1, output: { street: 'Owl Lane 1' } }),
    letter('run-letter', 'execution.step_started', { stepId: 'send#0', parentStepId: null, name: 'send', ordinal: 0, attempt: 1, kind: 'effect', input: { street: 'Owl Lane 1' } }),
    letter('run-letter', 'execution.step_completed', { stepId: 'send#0', attempt: 1, output: { sent: 'Owl Lane 1' } }),
    letter('run-letter', 'execution.completed', { output: { ok: true } }),
    letter('run-letter', 'system.workflow_completed', {}),
    letter('audit', 'system.payload_erased', { runId: 'run-letter', seqs: [3, 4, 5], reason: 'asked for', by: 'person-1' }),
  ],
  erase,
)

const value = history('b')
const messages = Array.from({ length: 90 }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: `line ${i} of a long talk` }))
const state = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`key "${i}" ä`, { n: i, half: i / 2, tiny: i * 1e-7 }]))
await seal(
  'sealed-values',
  [
    value('run-values', 'system.workflow_started', { agent: 'values', input: null }),
    value('run-values', 'execution.message', { role: 'user', content: messages }),
    value('run-values', 'execution.message', { role: 'user', content: [...messages.slice(1), { role: 'user', content: 'x'.repeat(600) }] }),
    value('run-values', 'system.state_transitioned', { superstep: 0, operations: [{ op: 'set', channel: 'state', value: state }] }),
    value('run-values', 'execution.structured_output', { value: `${'owl '.repeat(1023)}hoo🦉${'é\u2028"\\'.repeat(300)}` }),
    value('run-values', 'execution.structured_output', { value: { at: new Date(0), big: 12n, none: undefined, $clew: 'mine', '': [], '10': 1, '9': 2 } }),
    value('run-values', 'system.workflow_completed', {}),
  ],
  (line) => line,
)
