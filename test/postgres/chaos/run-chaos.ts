import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
import { hasOpenErrands } from './open-errands.ts'
import { startProxy } from './proxy.ts'
import { type ChaosReport, formatReport, judge } from './report.ts'
import { saveReport } from './save-report.ts'

export interface ChaosOptions {
  readonly seconds: number
  readonly seed: number
  readonly writers?: number | undefined
  readonly workers?: number | undefined
  /** Time between two restarts of the server. */
  readonly restartMs?: readonly [least: number, most: number] | undefined
  readonly onFault?: ((kind: FaultKind, hits: number) => void) | undefined
  /** Folder for the report, notes and exported ledger of a run that did not hold; without it they are deleted. */
  readonly reports?: string | undefined
}

const FOLLOWERS = 2
const SWEEP_MS = 1000
const FRESH_RUNS = 2
/** A shorter run does not wait for a lease to expire. */
const SILENCE_SECONDS = 90
const SETTLE_MS = LEASE_STALE_MS + 60_000

/** Faults under the load of many writers, workers and followers on a server of its own; then judges the ledger and the notes. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seconds, seed, writers = 8, workers = 3, restartMs = [5000, 10_000], onFault, reports } = options
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
  const fired = new Map((Object.keys(FAULTS) as FaultKind[]).map((kind) => [kind, 0]))
  const isShort = seconds < SILENCE_SECONDS
  const scene: Scene = {
    server,
    database,
    proxy,
    crew,
    dice,
    isShort,
    sweepMs: SWEEP_MS,
    takeovers: [],
    beside: [],
  }
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
      await settle(ledger, scene)
      const notes = {
        writer: crew.notesOf('writer'),
        worker: crew.notesOf('worker'),
        follower: crew.notesOf('follower'),
      }
      const gathered = await gatherEvidence(ledger, notes)
      const evidence = { ...gathered, failures: [...gathered.failures, ...crew.failures] }
      const { takeovers } = scene
      const report = judge({ options, fired: witnessed(), takeovers, sweepMs: SWEEP_MS, evidence })
      if (report.verdict !== 'held') {
        const lines = await Array.fromAsync(ledger.export())
        writeFileSync(join(folder, 'export'), lines.join('\n'))
        save(formatReport(report, Number.POSITIVE_INFINITY))
      }
      return report
    } finally {
      await ledger.close()
    }
  } catch (error) {
    save(`the fault run failed: ${String(error)}`)
    throw error
  } finally {
    await crew.close()
    await proxy.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }

  function save(report: string): void {
    if (reports !== undefined) saveReport(join(reports, `chaos-${seed}.txt`), report, folder)
  }

  /** How often each fault fired; 0 if no process has noted its effect. */
  function witnessed(): Map<FaultKind, number> {
    const notes = [...crew.notesOf('writer'), ...crew.notesOf('worker')].flatMap(readNotes)
    return new Map([...fired].map(([kind, hits]) => [kind, (WITNESS[kind] ?? isAny)(notes) ? hits : 0]))
  }

  /** First each kind in random order until it has fired, then kinds at random. */
  async function rage(): Promise<void> {
    const end = performance.now() + seconds * 1000
    let first = dice.shuffle<FaultKind>([...fired.keys()])
    let restartAt = performance.now() + dice.between(...restartMs)
    while (performance.now() < end || first.length > 0) {
      const isDue = performance.now() >= restartAt
      const kind = isDue ? 'server restarted' : (first.shift() ?? dice.one(OFTEN))
      const hits = await FAULTS[kind](scene)
      if (kind === 'server restarted') restartAt = performance.now() + dice.between(...restartMs)
      fired.set(kind, (fired.get(kind) ?? 0) + hits)
      onFault?.(kind, hits)
      await sleep(dice.between(50, 500))
      if (first.length > 0) continue
      // A fault that hit nothing, or whose effect no process has noted, is tried again.
      const isOverdue = performance.now() > end + SETTLE_MS
      first = isOverdue ? [] : dice.shuffle([...witnessed()].flatMap(([each, n]) => (n === 0 ? [each] : [])))
    }
  }
}

/** Faults worth repeating. The one left out waits for a lease to expire. */
const OFTEN: readonly FaultKind[] = [
  ...(['backends terminated', 'network stalled', 'answers lost', 'network reset'] as const),
  ...(['writer killed', 'writer killed', 'follower killed', 'holder killed', 'two owners'] as const),
  ...(['backends terminated', 'statement time-out', 'writes refused', 'disk full'] as const),
]

type Witness = (notes: readonly Note[]) => boolean
const isAny: Witness = () => true
const isRefusedWith =
  (isOne: (refused: Extract<Note, { refused: unknown }>) => boolean): Witness =>
  (notes) =>
    notes.some((note) => 'refused' in note && isOne(note))

/** Notes that prove the effect of faults which may miss; the others count what they hit themselves. */
const WITNESS: Readonly<Partial<Record<FaultKind, Witness>>> = {
  'two owners': (notes) => notes.some((note) => 'stale' in note),
  'statement time-out': isRefusedWith(({ state }) => state === '57014'),
  'writes refused': isRefusedWith(({ refused }) => refused === 'store_readonly'),
  'disk full': isRefusedWith(({ refused }) => refused === 'store_full'),
}

/** False if the condition was not met in time. */
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
 * After the last fault: unanswered events are sent again, every run is completed, and followers reach the end. The checks
 * find what did not happen in time.
 */
async function settle(ledger: Ledger, { crew, database }: Scene): Promise<void> {
  await crew.stop('writer')
  await crew.stop('worker')
  crew.start('worker', 1, { freshRuns: 0 })
  await until(async () => !(await hasOpenErrands(database)))
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
