import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Dice } from './dice.ts'

export type Role = 'writer' | 'worker' | 'follower'

export interface Member {
  readonly role: Role
  readonly who: number
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
}

export interface Crew {
  readonly members: readonly Member[]
  /** Notes of all that ever were, by role. */
  notesOf(role: Role): readonly string[]
  start(role: Role, who: number, options?: { readonly freshRuns: number }): void
  /** SIGKILL of one, whose place is taken by another; true when it was alive to be killed. */
  kill(member: Member): Promise<boolean>
  /** SIGTERM of all of a role; waits until they have ended. */
  stop(role: Role): Promise<void>
  /** Whatever still runs dies. */
  close(): Promise<void>
}

interface CrewParts {
  readonly folder: string
  readonly dice: Dice
  /** Half of them go through the bad network. */
  readonly urlOf: (who: number) => string
  readonly sweepMs: number
  /** That each worker begins beside each other. */
  readonly freshRuns: number
}

/** Some wait long for a server that is away, others soon give up and send again. */
const WAIT_MS = [1500, 20_000] as const

/** The processes of a fault run. They end with this one, whose end is the end of their input. */
export function createCrew({ folder, dice, urlOf, sweepMs, freshRuns }: CrewParts): Crew {
  const members: Member[] = []
  const notes: Record<Role, string[]> = { writer: [], worker: [], follower: [] }
  const before = new Map<string, string[]>()

  /** A follower goes on with its own notes; a writer needs all that were made in its place, for it may die soon, too. */
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
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    members.push({ role, who, child, ended: once(child, 'exit') })
  }

  async function end(member: Member, signal: NodeJS.Signals): Promise<void> {
    members.splice(members.indexOf(member), 1)
    member.child.kill(signal)
    await member.ended
  }

  return {
    members,
    notesOf: (role) => notes[role],
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
