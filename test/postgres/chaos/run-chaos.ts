import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LEASE_STALE_MS, type Ledger } from '@clew/ledger'
import { openLedger } from '../../../packages/postgres/test/harness.ts'
import { createDatabase } from '../database.ts'
import { startServer } from '../start-server.ts'
import { createCrew, type Crew } from './crew.ts'
import { createDice } from './dice.ts'
import { type FaultKind, FAULTS, prepareFaults, type Scene } from './faults.ts'
import { gatherEvidence } from './gather.ts'
import { type Note, readNotes } from './notes.ts'
import { startProxy } from './proxy.ts'
import { type ChaosReport, judge } from './report.ts'

export interface ChaosOptions {
  readonly seconds: number
  readonly seed: number
  readonly writers?: number | undefined
  readonly workers?: number | undefined
  /** Between two restarts of the server. */
  readonly restartMs?: readonly [least: number, most: number] | undefined
  /** What each fault is told with, when it has fired. */
  readonly onFault?: ((kind: FaultKind, hits: number) => void) | undefined
}

const FOLLOWERS = 2
const SWEEP_MS = 1000
const FRESH_RUNS = 2
/** A run shorter than this cannot see a lease fall by silence. */
const SILENCE_SECONDS = 90
const SETTLE_MS = LEASE_STALE_MS + 60_000

/** Faults beside many writers, workers and followers on a server of its own; then what is left is judged. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seconds, seed, writers = 8, workers = 3, restartMs = [5000, 10_000], onFault } = options
  const dice = createDice(seed)
  const folder = mkdtempSync(join(tmpdir(), 'clew-chaos-'))
  const server = await startServer({ durable: true })
  const database = await createDatabase({ server: server.url })
  const proxy = await startProxy(database.url)
  const crew = createCrew({
    folder,
    dice: createDice(seed + 1),
    urlOf: (who) => (who % 2 === 0 ? proxy.url : database.url),
    sweepMs: SWEEP_MS,
    freshRuns: FRESH_RUNS,
  })
  const fired = new Map<FaultKind, number>(kindsOf(seconds).map((kind) => [kind, 0]))
  const scene: Scene = { server, database, proxy, crew, dice, sweepMs: SWEEP_MS, takeovers: [], beside: [] }
  try {
    await (await openLedger(database.url)).close()
    await prepareFaults(database)
    for (let who = 0; who < writers; who++) crew.start('writer', who)
    for (let who = 0; who < workers; who++) crew.start('worker', who)
    for (let who = 0; who < FOLLOWERS; who++) crew.start('follower', who)
    await untilAllNoted(crew)
    await rage()
    await Promise.all(scene.beside)
    const ledger = await openLedger(database.url)
    try {
      await settle(ledger, crew)
      const notes = {
        writer: crew.notesOf('writer'),
        worker: crew.notesOf('worker'),
        follower: crew.notesOf('follower'),
      }
      const evidence = await gatherEvidence(ledger, notes)
      const refused = notes.writer.flatMap(readNotes)
      return judge({
        options,
        fired: witnessed(fired, refused),
        takeovers: scene.takeovers,
        sweepMs: SWEEP_MS,
        evidence,
      })
    } finally {
      await ledger.close()
    }
  } finally {
    await crew.close()
    await proxy.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }

  /** First each kind once in any order, so that none is left out; then as the dice fall. */
  async function rage(): Promise<void> {
    const end = performance.now() + seconds * 1000
    const first = dice.shuffle<FaultKind>([...fired.keys()].filter((kind) => kind !== 'server restarted'))
    let restartAt = performance.now() + dice.between(...restartMs)
    while (performance.now() < end || first.length > 0) {
      const isDue = performance.now() >= restartAt
      const kind = isDue ? 'server restarted' : (first.shift() ?? dice.one(OFTEN))
      const hits = await FAULTS[kind](scene)
      if (isDue) restartAt = performance.now() + dice.between(...restartMs)
      fired.set(kind, (fired.get(kind) ?? 0) + hits)
      onFault?.(kind, hits)
      // What found nothing to hit yet gets another turn.
      if (hits === 0 && fired.get(kind) === 0 && performance.now() < end + SETTLE_MS) first.push(kind)
      await sleep(dice.between(50, 500))
    }
  }
}

/** Those that are worth repeating; a lease that falls by silence takes a minute. */
const OFTEN: readonly FaultKind[] = [
  ...(['backends terminated', 'network stalled', 'answers lost', 'network reset'] as const),
  ...(['writer killed', 'writer killed', 'follower killed', 'holder killed', 'two owners'] as const),
  ...(['backends terminated', 'statement time-out', 'writes refused', 'disk full'] as const),
]

const kindsOf = (seconds: number): FaultKind[] =>
  (Object.keys(FAULTS) as FaultKind[]).filter(
    (kind) => kind !== 'holder killed before a restart' || seconds >= SILENCE_SECONDS,
  )

/** What a fault must have done to a writer to have been one. */
const WITNESS: Readonly<Partial<Record<FaultKind, (note: Note) => boolean>>> = {
  'two owners': (note) => 'stale' in note,
  'statement time-out': (note) => 'refused' in note && note.state === '57014',
  'writes refused': (note) => 'refused' in note && note.refused === 'store_readonly',
  'disk full': (note) => 'refused' in note && note.refused === 'store_full',
}

function witnessed(fired: ReadonlyMap<FaultKind, number>, notes: readonly Note[]): Map<FaultKind, number> {
  const seen = ([kind, hits]: [FaultKind, number]): [FaultKind, number] => {
    const isWitness = WITNESS[kind]
    return [kind, isWitness && !notes.some(isWitness) ? 0 : hits]
  }
  return new Map([...fired].map(seen))
}

/** False when it did not come to be so. */
async function until(isSo: () => Promise<boolean> | boolean): Promise<boolean> {
  const deadline = performance.now() + SETTLE_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) return false
    await sleep(50)
  }
  return true
}

async function untilAllNoted(crew: Crew): Promise<void> {
  const haveNoted = await until(() =>
    (['writer', 'worker', 'follower'] as const).every((role) =>
      crew.notesOf(role).every((file) => readNotes(file).length > 0),
    ),
  )
  if (!haveNoted) throw new Error('a process of the fault run does nothing')
}

/**
 * No more faults: what was never answered is sent again, every run is ended, and followers come to the end. What does
 * not come about is found by the checks.
 */
async function settle(ledger: Ledger, crew: Crew): Promise<void> {
  await crew.stop('writer')
  await crew.stop('worker')
  crew.start('worker', 1, { freshRuns: 0 })
  await until(async () => {
    const open = await Promise.all(
      (['running', 'interrupted', 'pending'] as const).map((status) =>
        ledger.listRuns({ agent: 'errand', status, limit: 1 }),
      ),
    )
    return open.every(({ runs }) => runs.length === 0)
  })
  await crew.stop('worker')
  const last = await ledger.newestPosition()
  await until(() =>
    crew.notesOf('follower').every((file) => {
      const note = readNotes(file).findLast((each) => 'followed' in each)
      return note?.followed.at(-1) === last
    }),
  )
  await crew.stop('follower')
}
