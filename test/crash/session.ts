import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CRASH_POINTS, type CrashPoint } from './crash-points.ts'
import { type Acknowledged, findViolations, readLines, resend } from './oracle.ts'

const WRITER = join(import.meta.dirname, 'writer.ts')
/** A sweep at a point that is never passed would prove nothing. */
const MAX_VOID = 8
/** Notes of a writer that lives to its end; a kill at random comes before one of them. */
const NOTES = 300

export interface Round {
  readonly point: CrashPoint
  readonly acknowledged: number
  readonly resent: number
  /** Tries in which the writer ended before the kill. */
  readonly void: number
  readonly violations: readonly string[]
}

export interface Session {
  readonly database: string
  readonly acknowledged: readonly Acknowledged[]
  /**
   * Starts a writer on the file that the last one left, kills it and checks the file. At `random` it is killed after so many
   * notes: after so much time, a slow writer would have written nothing.
   */
  round(point: CrashPoint, afterNotes?: number): Promise<Round>
  close(): void
}

export const pointOf = (round: number): CrashPoint => CRASH_POINTS[round % CRASH_POINTS.length] as CrashPoint

const countNotes = (file: string): number =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0

export function startSession(): Session {
  const folder = mkdtempSync(join(tmpdir(), 'clew-crash-'))
  const database = join(folder, 'clew.db')
  const acknowledged: Acknowledged[] = []
  let writers = 0

  /** `killed`: the writer was killed before its end. What it noted counts either way. */
  async function runWriter(
    point: CrashPoint,
    afterNotes: number,
  ): Promise<{ killed: boolean; resent: number; failures: string[] }> {
    const lines = join(folder, `lines-${writers}`)
    const after = String(1 + Math.floor(Math.random() * (point === 'mid-transaction' ? 1500 : 150)))
    const child = spawn(process.execPath, [WRITER, database, lines, String(writers++)], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, CLEW_CRASH_AT: point, CLEW_CRASH_AFTER: after },
    })
    const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    if (point === 'random') {
      while (child.exitCode === null && countNotes(lines) < afterNotes) await sleep(1)
      child.kill('SIGKILL')
    }
    const [code, signal] = await exit
    const said = existsSync(lines) ? readLines(lines) : []
    const failures = said.flatMap((line) => ('failed' in line ? [`the writer failed: ${line.failed}`] : []))
    if (code !== 0 && signal !== 'SIGKILL') failures.push(`the writer ended with ${code ?? signal}`)
    for (const line of said) if ('ack' in line) acknowledged.push(line.ack)
    // First as the writer left it, then after a client has sent again what was not answered.
    failures.push(...(await findViolations(database, acknowledged)))
    const answers = await resend(database, said)
    acknowledged.push(...answers)
    return { killed: signal === 'SIGKILL', resent: answers.length, failures }
  }

  return {
    database,
    acknowledged,
    async round(point, afterNotes = 1 + Math.floor(Math.random() * NOTES)) {
      const before = acknowledged.length
      for (let tries = 0; tries < MAX_VOID; tries++) {
        const { killed, resent, failures } = await runWriter(point, afterNotes)
        const violations = [...failures, ...(await findViolations(database, acknowledged))]
        if (killed || violations.length > 0)
          return { point, acknowledged: acknowledged.length - before, resent, void: tries, violations }
      }
      throw new Error(
        `the writer was never killed at ${point} in ${MAX_VOID} tries; is the point still passed?`,
      )
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
