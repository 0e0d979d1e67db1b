import { existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { type ClewEvent, deriveId, isTerminal, type Ledger } from '@clew/ledger'
import { openLedger } from 'clew'
import { dieNow } from '../crash/crash-points.ts'
import { chaosAgent, itemsOf, type Outside } from './chaos-program.ts'
import type { ChaosNote, Plant } from './chaos-rounds.ts'

/**
 * `node chaos-child.ts URL NOTES RUN SEED KILL_AT PLANT`: starts the run of a random program or goes on with it, and dies
 * at the n-th instant: before or after a commit, at the beginning or the end of an effect. 0 is never.
 */
const [, , url = '', notes = '', runId = '', seed = '', killAt = '0', planted = 'none'] = process.argv
const plant = planted as Plant
let left = Number(killAt)
const pass = (): void => {
  if (--left === 0) dieNow()
}

const readNotes = (): ChaosNote[] => {
  const lines = readFileSync(notes, 'utf8').split('\n')
  // A line that was cut by the kill was not said.
  lines.pop()
  return lines.map((line) => JSON.parse(line) as ChaosNote)
}
const seen = existsSync(notes) ? readNotes() : []
const out = openSync(notes, 'a')
const note = (line: ChaosNote): void => void writeSync(out, `${JSON.stringify(line)}\n`)

const inner = await openLedger(url)
const known = new Set<string>()
for (const { runId: id } of (await inner.listRuns({ limit: 500 })).runs)
  if (id === runId || id.startsWith(`${runId}/`))
    for (const { kind, status, stepId, inputDigest } of await inner.getSteps(id))
      if (kind === 'effect' && status === 'completed')
        known.add(deriveId((text) => hash('sha256', text), id, 'effect', stepId, inputDigest ?? ''))
const isResumed = (await inner.getRun(runId)) !== null

async function* forgetful(...args: Parameters<Ledger['read']>): AsyncGenerator<ClewEvent> {
  const events = await Array.fromAsync(inner.read(...args))
  const last = events.findLastIndex(({ eventType }) => eventType === 'execution.step_completed')
  yield* events.filter((_, at) => at !== last)
}

const ledger: Ledger = {
  ...inner,
  async append(events, options) {
    pass()
    const stored = await inner.append(events, options)
    for (const { eventId, ledger: place } of stored) note({ acknowledged: eventId, hash: place.hash })
    pass()
    return stored
  },
  ...(plant === 'forgets an end' && isResumed && { read: forgetful }),
}

const outside: Outside = {
  isReserving: plant !== 'no reservation',
  suffix: plant === 'other code' && isResumed ? ' renamed' : '',
  async perform({ name, safety, turns, fails, hangs }, _, { attempt, idempotencyKey: key, signal }) {
    pass()
    note({ begun: key, attempt, isWrite: safety === 'write', isOnRecord: known.has(key) })
    pass()
    if (hangs && attempt === 1) {
      if (!signal.aborted) await once(signal, 'abort')
      throw new Error('too late')
    }
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => void setImmediate(resolve))
    if (attempt <= fails) throw new Error('not now')
    note({ done: key, output: name })
    pass()
    return name
  },
}

const made = chaosAgent(Number(seed), outside)
const items = itemsOf(Number(seed))

/** A person who looks at the world: what was done is done, what was not is tried again. */
async function answers(): Promise<Record<string, unknown>> {
  const { pauses } = (await inner.getRun(runId)) ?? { pauses: [] }
  const done = new Map(seen.flatMap((line) => ('done' in line ? [[line.done, line.output] as const] : [])))
  return Object.fromEntries(
    pauses.map(({ pauseId, question }) => {
      const asked = question as { unknown?: string; idempotencyKey?: string; question?: string }
      if (asked.unknown === undefined) return [pauseId, `answer to ${asked.question}`]
      const output = done.get(asked.idempotencyKey ?? '')
      return [pauseId, output === undefined ? 'retry' : { choice: 'done', output }]
    }),
  )
}

const run = await inner.getRun(runId)
if (items) await made.map(ledger, items, { runId, concurrency: 2, answers: await answers() })
else if (!run) await made.start(ledger, null, { runId })
else if (!isTerminal(run.status)) await made.resume(ledger, runId, { answers: await answers() })
await inner.close()
// What nobody waits for any more has no say in when the process ends.
process.exit(0)
