import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Dice } from './dice.ts'

export type Role = 'writer' | 'worker' | 'follower'

export interface Member {
  readonly role: Role
  readonly who: number
  readonly child: ChildProcess
  /** Settles when SIGTERM may be sent (`onStop`), or when the process has ended. */
  readonly ready: Promise<unknown>
  readonly ended: Promise<unknown>
}

export interface Crew {
  readonly members: readonly Member[]
  /** Notes of all processes of a role, ended ones included. */
  notesOf(role: Role): readonly string[]
  /** Processes that ended by themselves, before a signal was sent to them or with an error after it. */
  readonly failures: readonly string[]
  start(role: Role, who: number, options?: { readonly freshRuns: number }): void
  /** SIGKILL of one, which is replaced; true if it was alive until then. */
  kill(member: Member): Promise<boolean>
  /** SIGTERM of all of a role, as soon as they can handle it; waits until they have ended. */
  stop(role: Role): Promise<void>
  /** SIGKILL of all that still run. */
  close(): Promise<void>
}

interface CrewParts {
  readonly folder: string
  readonly dice: Dice
  /** Half of the processes connect through the proxy. */
  readonly urlOf: (who: number) => string
  readonly sweepMs: number
  /** Runs that each worker starts concurrently. */
  readonly freshRuns: number
}

/** Half of the writers wait long for a server that is away, the others give up early and send again. */
const WAIT_MS = [1500, 20_000] as const

/** The processes of a fault run. They end with this process: its end is the end of their standard input. */
export function createCrew({ folder, dice, urlOf, sweepMs, freshRuns }: CrewParts): Crew {
  const members: Member[] = []
  const notes: Record<Role, string[]> = { writer: [], worker: [], follower: [] }
  const before = new Map<string, string[]>()
  const failures: string[] = []

  /** A follower continues its own notes. A writer gets the notes of all that it replaces: several may have died in a row. */
  function fileOf(role: Role, who: number): { file: string; earlier: string } {
    const own = before.get(`${role}-${who}`) ?? []
    before.set(`${role}-${who}`, own)
    const [first] = own
    if (role === 'follower' && first !== undefined) return { file: first, earlier: '' }
    const file = join(folder, `${role}-${who}-${own.length}`)
    notes[role].push(file)
    const earlier = own.join(',')
    own.push(file)
    return { file, earlier }
  }

  function start(role: Role, who: number, { freshRuns: fresh } = { freshRuns }): void {
    const { file, earlier } = fileOf(role, who)
    const seed = dice.roll(1_000_000)
    const args: Readonly<Record<Role, readonly (string | number)[]>> = {
      writer: [earlier, who, seed, WAIT_MS[who % 4 < 2 ? 0 : 1]],
      worker: [who, seed, sweepMs, fresh],
      follower: [],
    }
    const script = join(import.meta.dirname, `${role}.ts`)
    const child = spawn(process.execPath, [script, urlOf(who), file, ...args[role].map(String)], {
      stdio: ['pipe', 'ignore', 'inherit', 'ipc'],
    })
    const ended = once(child, 'exit')
    child.once('exit', (code, signal) => {
      if (code !== 0 && signal !== 'SIGKILL')
        failures.push(`${role} ${who} ended with ${signal === null ? `exit code ${code}` : signal}`)
    })
    const ready = Promise.race([once(child, 'message'), ended])
    members.push({ role, who, child, ready, ended })
  }

  async function end(member: Member, signal: NodeJS.Signals): Promise<void> {
    members.splice(members.indexOf(member), 1)
    if (signal === 'SIGTERM') await member.ready
    member.child.kill(signal)
    await member.ended
  }

  return {
    members,
    notesOf: (role) => notes[role],
    failures,
    start,
    async kill(member) {
      await end(member, 'SIGKILL')
      start(member.role, member.who)
      return member.child.signalCode === 'SIGKILL'
    },
    async stop(role) {
      await Promise.all(members.filter((each) => each.role === role).map((each) => end(each, 'SIGTERM')))
    },
    async close() {
      await Promise.all([...members].map((each) => end(each, 'SIGKILL')))
    },
  }
}
