import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isTerminal, type Ledger } from '@clew/ledger'
import { openLedger } from 'clew'
import { replay } from '@clew/runtime'
import { chaosAgent, createDice, createProgram, expectedOf, itemsOf, type Outside } from './chaos-program.ts'
import { flawsOf } from './worlds.ts'

/** Mistakes that can be planted, to see that they are found. */
export const PLANTS = ['no reservation', 'forgets an end', 'other code'] as const
export type Plant = 'none' | (typeof PLANTS)[number]

/** One line of what the world outside has seen. */
export type ChaosNote =
  | {
      readonly begun: string
      readonly attempt: number
      readonly isWrite: boolean
      readonly isOnRecord: boolean
    }
  | { readonly done: string; readonly output: string }
  | { readonly acknowledged: string; readonly hash: string }

export interface ChaosRound {
  readonly seed: number
  /** The instants at which its process died. */
  readonly kills: readonly number[]
  readonly lives: number
  readonly violations: readonly string[]
}

const CHILD = join(import.meta.dirname, 'chaos-child.ts')
const MAX_LIVES = 24
const MAX_KILLS = 3
const MAX_INSTANT = 50
/** A life that takes so long hangs. */
const MAX_LIFE_MS = 120_000

/** The run of one random program: killed up to three times, gone on with by other processes until it ends. */
export async function liveThrough(url: string, seed: number, plant: Plant = 'none'): Promise<ChaosRound> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-chaos-'))
  const notes = join(folder, 'notes')
  const runId = `chaos-${seed}-${plant.replaceAll(' ', '-')}`
  const dice = createDice(seed ^ 0x5eed)
  const kills: number[] = []
  const violations: string[] = []
  let lives = 0
  try {
    for (; lives < MAX_LIVES && violations.length === 0; lives++) {
      const at = kills.length < MAX_KILLS ? 1 + Math.floor(dice() ** 2 * MAX_INSTANT) : 0
      const how = await life([url, notes, runId, String(seed), String(at), plant])
      if (how === 'killed') kills.push(at)
      else if (how !== 'ended') violations.push(how)
      const ledger = await openLedger(url)
      const run = await ledger.getRun(runId)
      await ledger.close()
      if (run && (isTerminal(run.status) || run.status === 'blocked')) break
    }
    violations.push(...(await check(url, runId, seed, notes)))
    return { seed, kills, lives: lives + 1, violations }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function life(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [CHILD, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  let isHung = false
  const limit = setTimeout(() => {
    isHung = true
    child.kill('SIGKILL')
  }, MAX_LIFE_MS)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(limit)
  if (isHung) return 'D3 a life hangs'
  return signal === 'SIGKILL' ? 'killed' : code === 0 ? 'ended' : `R5 a life failed: ${said.slice(-600)}`
}

async function check(url: string, runId: string, seed: number, notes: string): Promise<string[]> {
  const ledger = await openLedger(url)
  try {
    const run = await ledger.getRun(runId)
    if (run?.status !== 'completed')
      return [`R0 the run is ${run?.status} ${run?.error?.message ?? ''}`, ...checkNotes(readNotes(notes))]
    const violations: string[] = []
    const { runs } = await ledger.listRuns({ limit: 500 })
    const items = itemsOf(seed)
    const wholes = items ? runs.filter(({ parentRunId }) => parentRunId === runId) : [run]
    if (items && wholes.length !== items.length) violations.push(`R8 the map has ${wholes.length} items`)
    for (const whole of wholes) {
      const [end] = await Array.fromAsync(ledger.read(whole.runId, { types: ['execution.completed'] }))
      const [output, expected] = [end?.payload['output'], expectedOf(createProgram(seed))].map((each) =>
        JSON.stringify(each),
      )
      if (output !== expected)
        violations.push(`R5 the output of ${whole.runId} is ${output} in place of ${expected}`)
    }
    const replayed = await replay(chaosAgent(seed, NOTHING), { ledger, runId })
    if (replayed.verdict !== 'identical')
      violations.push(`D1 its replay is ${replayed.verdict}: ${JSON.stringify(replayed.divergences[0])}`)
    for (const { runId: id } of runs)
      if (id === runId || id.startsWith(`${runId}/`)) violations.push(...(await flawsOf(ledger, id)))
    const lines = readNotes(notes)
    return [...violations, ...(await checkAcknowledged(ledger, lines)), ...checkNotes(lines)]
  } finally {
    await ledger.close()
  }
}

/** What a replay reaches. */
const NOTHING: Outside = {
  isReserving: true,
  suffix: '',
  perform: () => Promise.reject(new Error('a replay has reached the outside')),
}

function readNotes(file: string): ChaosNote[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  return lines.map((line) => JSON.parse(line) as ChaosNote)
}

async function checkAcknowledged(ledger: Ledger, lines: readonly ChaosNote[]): Promise<string[]> {
  const violations: string[] = []
  for (const line of lines)
    if ('acknowledged' in line && (await ledger.getEvent(line.acknowledged))?.ledger.hash !== line.hash)
      violations.push(`L5 the event ${line.acknowledged} was acknowledged and is not there`)
  return violations
}

/** R5 R10: no effect runs again with its result on record, and a write is done once. */
function checkNotes(lines: readonly ChaosNote[]): string[] {
  const begun = lines.flatMap((line) => ('begun' in line ? [line] : []))
  const writes = new Set(begun.filter(({ isWrite }) => isWrite).map((line) => line.begun))
  const done = lines.flatMap((line) => ('done' in line && writes.has(line.done) ? [line.done] : []))
  const attempts = begun.filter(({ isWrite }) => isWrite).map((line) => `${line.begun} ${line.attempt}`)
  const twice = (all: readonly string[]): string[] => all.filter((each, at) => all.indexOf(each) !== at)
  return [
    ...begun
      .filter(({ isOnRecord }) => isOnRecord)
      .map((line) => `R5 ${line.begun} was executed again, with its result on record`),
    ...twice(done).map((key) => `R10 the write ${key} was done twice`),
    ...twice(attempts).map((id) => `R10 an attempt of a write was begun twice: ${id}`),
  ]
}
