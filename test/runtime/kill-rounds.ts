import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isTerminal, type Ledger } from '@clew/ledger'
import { openLedger } from 'clew'
import { KILL_POINTS, type KillPoint } from './kill-points.ts'
import { flawsOf } from './worlds.ts'

/** One line of what the world outside has seen. */
export type Note =
  | {
      readonly begun: string
      readonly attempt: number
      readonly isWrite: boolean
      readonly isOnRecord: boolean
    }
  | { readonly done: string; readonly output: number }
  | { readonly acknowledged: string; readonly hash: string }

const CHILD = join(import.meta.dirname, 'kill-child.ts')
const EXPECTED = [3, 4, 5, 2, 5, 7, 48]
const MAX_LIVES = 16

export interface KillRound {
  readonly point: KillPoint
  readonly lives: number
  readonly isKilled: boolean
  readonly violations: readonly string[]
}

export interface KillSession {
  /** One run, killed at this instant (again and again, `kills` times), gone on with by other processes until it ends. */
  round(point: KillPoint, after: number, kills?: number): Promise<KillRound>
  close(): void
}

export const killPointOf = (round: number): KillPoint => KILL_POINTS[round % KILL_POINTS.length] as KillPoint

export function startKills(): KillSession {
  const folder = mkdtempSync(join(tmpdir(), 'clew-kills-'))
  const database = join(folder, 'clew.db')
  let rounds = 0

  async function life(
    runId: string,
    notes: string,
    kill: { at: KillPoint; after: number } | undefined,
  ): Promise<string> {
    const { CLEW_KILL_AT: _at, CLEW_KILL_AFTER: _after, ...env } = process.env
    const child = spawn(process.execPath, [CHILD, database, notes, runId], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...env, ...(kill && { CLEW_KILL_AT: kill.at, CLEW_KILL_AFTER: String(kill.after) }) },
    })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    return signal === 'SIGKILL' ? 'killed' : code === 0 ? 'ended' : `failed with ${code}: ${said.slice(-600)}`
  }

  return {
    async round(point, after, kills = 1) {
      const runId = `run-${rounds++}`
      const notes = join(folder, `${runId}.notes`)
      const violations: string[] = []
      let killed = 0
      let lives = 0
      for (; lives < MAX_LIVES; lives++) {
        const how = await life(runId, notes, killed < kills ? { at: point, after } : undefined)
        if (how === 'killed') killed++
        else if (how !== 'ended') violations.push(how)
        const ledger = await openLedger(`sqlite:${database}`)
        const run = await ledger.getRun(runId)
        await ledger.close()
        if (violations.length > 0 || (run && isTerminal(run.status))) break
      }
      violations.push(...(await check(database, runId, notes)))
      return { point, lives: lives + 1, isKilled: killed > 0, violations }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function check(database: string, runId: string, notes: string): Promise<string[]> {
  const ledger = await openLedger(`sqlite:${database}`)
  try {
    const run = await ledger.getRun(runId)
    const violations: string[] = []
    if (run?.status !== 'completed') violations.push(`R0 the run is ${run?.status}`)
    const output = JSON.stringify(await outputOf(ledger, runId))
    if (output !== JSON.stringify(EXPECTED)) violations.push(`R5 the output is ${output}`)
    for (const id of [runId, `${runId}/part#0`]) violations.push(...(await flawsOf(ledger, id)))
    for (const line of existsSync(notes) ? readFileSync(notes, 'utf8').split('\n').slice(0, -1) : [])
      violations.push(...(await checkNote(ledger, JSON.parse(line) as Note)))
    return [...violations, ...checkEffects(notes)]
  } finally {
    await ledger.close()
  }
}

async function checkNote(ledger: Ledger, note: Note): Promise<string[]> {
  if ('begun' in note)
    return note.isOnRecord ? [`R5 ${note.begun} was executed again, with its result on record`] : []
  if (!('acknowledged' in note)) return []
  const event = await ledger.getEvent(note.acknowledged)
  return event?.ledger.hash === note.hash
    ? []
    : [`L5 the event ${note.acknowledged} was acknowledged and is not there`]
}

/** R10: a write is done once, whatever happened; each of its attempts begins once. */
function checkEffects(notes: string): string[] {
  const lines = readFileSync(notes, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Note)
  const writes = new Set(lines.flatMap((line) => ('begun' in line && line.isWrite ? [line.begun] : [])))
  const done = lines.flatMap((line) => ('done' in line && writes.has(line.done) ? [line.done] : []))
  const begun = lines.flatMap((line) =>
    'begun' in line && line.isWrite ? [`${line.begun} ${line.attempt}`] : [],
  )
  return [
    ...done.filter((key, at) => done.indexOf(key) !== at).map((key) => `R10 the write ${key} was done twice`),
    ...begun
      .filter((id, at) => begun.indexOf(id) !== at)
      .map((id) => `R10 an attempt of a write was begun twice: ${id}`),
    ...(new Set(done).size === 3 ? [] : [`R5 ${new Set(done).size} of 3 writes were done`]),
  ]
}

async function outputOf(ledger: Ledger, runId: string): Promise<unknown> {
  for await (const { payload } of ledger.read(runId, { types: ['execution.completed'] }))
    return payload['output']
  return null
}
