import { readFileSync, writeSync, openSync, existsSync } from 'node:fs'
import { hash } from 'node:crypto'
import { deriveId, isTerminal, type Ledger } from '@clew/ledger'
import { agent } from '@clew/runtime'
import { openLedger } from 'clew'
import { armKill, type KillPoint } from './kill-points.ts'
import type { Note } from './kill-rounds.ts'

/**
 * `node kill-child.ts DATABASE NOTES RUN`: starts the run or goes on with it until it ends, pauses, or the process is
 * killed. Notes are what the world outside has seen; each reaches its file before the process goes on.
 */
const [, , database = '', notes = '', runId = ''] = process.argv
const point = process.env['CLEW_KILL_AT'] as KillPoint | undefined
const inner = await openLedger(`sqlite:${database}`)
const { ledger, pass } = armKill(watched(inner), point, Number(process.env['CLEW_KILL_AFTER'] ?? 1))
const seen = existsSync(notes) ? readNotes() : []
const out = openSync(notes, 'a')
const note = (line: Note): void => void writeSync(out, `${JSON.stringify(line)}\n`)

function readNotes(): Note[] {
  const lines = readFileSync(notes, 'utf8').split('\n')
  // A line that was cut by the kill was not said.
  lines.pop()
  return lines.map((line) => JSON.parse(line) as Note)
}

/** Notes what was acknowledged. */
function watched(plain: Ledger): Ledger {
  return {
    ...plain,
    async append(events, options) {
      const stored = await plain.append(events, options)
      for (const { eventId, ledger: place } of stored) note({ acknowledged: eventId, hash: place.hash })
      return stored
    },
  }
}

const known = new Set<string>()
async function learnCompleted(): Promise<void> {
  for (const { runId: id } of (await inner.listRuns({ limit: 500 })).runs)
    if (id === runId || id.startsWith(`${runId}/`))
      for (const { kind, status, stepId, inputDigest } of await inner.getSteps(id))
        if (kind === 'effect' && status === 'completed')
          known.add(deriveId((text) => hash('sha256', text), id, 'effect', stepId, inputDigest ?? ''))
}

/** Plants a mistake: writes are dispatched like reads, without a reservation. */
const safety = process.env['CLEW_PLANT'] === 'no-reservation' ? 'read' : 'write'

interface Call {
  readonly attempt: number
  readonly idempotencyKey: string
}

const act =
  (isWrite: boolean) =>
  async (n: number, { attempt, idempotencyKey: key }: Call): Promise<number> => {
    pass('before-effect-dispatch')
    note({ begun: key, attempt, isWrite, isOnRecord: known.has(key) })
    pass('inside-effect')
    await new Promise((resolve) => void setImmediate(resolve))
    note({ done: key, output: n + 1 })
    pass('after-effect')
    return n + 1
  }

const part = agent('part', async (run, n: number) => {
  const read = await run.effect('read', n, act(false))
  return run.effect('write', read, act(true), { safety })
})

/** 1 → reads (3 × 2) → write → nested → child → answer → sum. */
const whole = agent('whole', async (run, n: number) => {
  const first = await run.step('plan', n, (value) => value)
  const reads = await Promise.all([1, 2, 3].map((each) => run.effect('read', first + each, act(false))))
  const paid = await run.effect('pay', first, act(true), { safety })
  const nested = await run.step('nested', paid, async (value, inside) => {
    let sum = await inside.effect('inner', value, act(false))
    for (let i = 0; i < 2; i++) sum = await inside.step('add', sum, (each) => each + 1)
    return sum
  })
  const child = await run.child(part, nested)
  const answer = await run.interrupt<number>('How many?')
  const last = await run.effect('last', child + answer, act(true), { safety })
  return [...reads, paid, nested, child, last]
})

async function answers(): Promise<Record<string, unknown>> {
  const { pauses } = (await inner.getRun(runId)) ?? { pauses: [] }
  const done = new Map(seen.flatMap((line) => ('done' in line ? [[line.done, line.output] as const] : [])))
  return Object.fromEntries(
    pauses.map(({ pauseId, question }) => {
      const { unknown, idempotencyKey = '' } = question as { unknown?: string; idempotencyKey?: string }
      if (unknown === undefined) return [pauseId, 40]
      // A person who looks at the world: what was done is done, what was not is tried again.
      const output = done.get(idempotencyKey)
      return [pauseId, output === undefined ? 'retry' : { choice: 'done', output }]
    }),
  )
}

await learnCompleted()
const run = await inner.getRun(runId)
if (!run) await whole.start(ledger, 1, { runId })
else if (!isTerminal(run.status)) await whole.resume(ledger, runId, { answers: await answers() })
await inner.close()
