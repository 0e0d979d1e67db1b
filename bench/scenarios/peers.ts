import type { Figure } from '../measure.ts'
import {
  type DbosSteps,
  type Growth,
  installPeers,
  type LangGraphChat,
  type LangGraphLoop,
  type MastraSteps,
  type PeerName,
  type PeerPrograms,
  peerVersions,
  runPeer,
} from '../peers.ts'

/** What the peers cost on this machine in this run. A peer that is missing is named in `leftOut` with the reason. */
export interface PeerResults {
  readonly langGraphLoop?: LangGraphLoop | undefined
  readonly langGraphChat?: LangGraphChat | undefined
  readonly dbos?: DbosSteps | undefined
  readonly mastra?: MastraSteps | undefined
  readonly leftOut: readonly string[]
  readonly versions: Readonly<Record<string, string>>
}

let measured: Promise<PeerResults> | undefined

/** Measured once per process, when the first scenario asks. */
export function peerResults(): Promise<PeerResults> {
  measured ??= measurePeers()
  return measured
}

async function measurePeers(): Promise<PeerResults> {
  const versions = peerVersions()
  const reason = await installPeers()
  if (reason !== undefined) {
    const sentence = `All peers are left out, their figures are missing: ${reason}`
    process.stdout.write(`  ${sentence}\n`)
    return { leftOut: [sentence], versions }
  }
  const leftOut: string[] = []
  async function run<Name extends PeerName>(name: Name): Promise<PeerPrograms[Name] | undefined> {
    process.stdout.write(`  peer ${name} …`)
    const result = await runPeer(name)
    if ('figures' in result) {
      process.stdout.write(` ${result.seconds.toFixed(0)} s\n`)
      return result.figures
    }
    process.stdout.write(` left out: ${result.leftOut}\n`)
    leftOut.push(`${name} is left out: ${result.leftOut}.`)
  }
  // The loop is what our promises are measured against: at both ends of the minutes that the others take, so that a
  // neighbour who is busy during one of them does not make it look slow.
  const first = await run('langgraph-loop')
  const others = {
    langGraphChat: await run('langgraph-chat'),
    dbos: await run('dbos'),
    mastra: await run('mastra'),
  }
  const second = first && (await run('langgraph-loop'))
  return { langGraphLoop: first && second ? bestLoop(first, second) : first, ...others, leftOut, versions }
}

function bestLoop(one: LangGraphLoop, other: LangGraphLoop): LangGraphLoop {
  const least = (value: (loop: LangGraphLoop) => number): number => Math.min(value(one), value(other))
  return {
    ...one,
    rounds: one.rounds + other.rounds,
    msPerStep: {
      noSaver: least((loop) => loop.msPerStep.noSaver),
      memory: least((loop) => loop.msPerStep.memory),
      sqliteSync: least((loop) => loop.msPerStep.sqliteSync),
      sqliteAsync: least((loop) => loop.msPerStep.sqliteAsync),
      sqliteSyncFull: least((loop) => loop.msPerStep.sqliteSyncFull),
    },
    getStateMs: least((loop) => loop.getStateMs),
    historyMs: least((loop) => loop.historyMs),
  }
}

/** The peers alone, as lines. They promise nothing, so there is no figure of ours among them. */
export async function peerFigures(): Promise<Figure[]> {
  for (const [peer, what, cost] of peerRows(await peerResults()))
    process.stdout.write(`  ${peer}, ${what}: ${cost}\n`)
  return []
}

export type PeerRow = readonly [peer: string, what: string, cost: string]

const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
const perStep = (value: number): string => `${ms(value)} a step`
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const growth = (it: Growth): string =>
  `${perStep(it.msPerStep)}, ${ms(it.msPerStepAtEarly)} at ${it.early}, ${ms(it.msPerStepAtEnd)} at ${it.steps}; ` +
  `${megabytes(it.bytes)} for ${megabytes(it.bytesGiven)}`

export function peerRows(results: PeerResults): PeerRow[] {
  const { langGraphLoop: loop, langGraphChat: chat, dbos, mastra, versions } = results
  const rows: PeerRow[] = []
  const langGraph = `LangGraph.js ${versions['@langchain/langgraph']}`
  if (loop) {
    const { steps, rounds, msPerStep, synchronous } = loop
    const add = (what: string, value: number): number =>
      rows.push([langGraph, `loop of ${steps} supersteps, ${what}`, `${perStep(value)}, best of ${rounds}`])
    add('no saver', msPerStep.noSaver)
    add('memory saver', msPerStep.memory)
    add(`SQLite saver, durability sync, synchronous ${synchronous.saver} (its own)`, msPerStep.sqliteSync)
    add(`SQLite saver, durability async, synchronous ${synchronous.saver} (its own)`, msPerStep.sqliteAsync)
    add(`SQLite saver, durability sync, synchronous ${synchronous.full}`, msPerStep.sqliteSyncFull)
    rows.push(
      [langGraph, 'newest state of that loop, SQLite saver', ms(loop.getStateMs)],
      [langGraph, `history of ${steps}, SQLite saver`, ms(loop.historyMs)],
    )
  }
  if (chat)
    rows.push(
      [langGraph, '1 KB message a step, one loop, SQLite saver', growth(chat.loop)],
      [langGraph, '1 KB message a turn, SQLite saver', growth(chat.turns)],
      [langGraph, '1 KB message a step, one loop, delta channel (opt-in, beta)', growth(chat.deltaLoop)],
      [langGraph, '1 KB message a turn, delta channel (opt-in, beta)', growth(chat.deltaTurns)],
    )
  if (dbos) {
    const peer = `DBOS ${versions['@dbos-inc/dbos-sdk']}, PostgreSQL ${dbos.postgres}`
    rows.push(
      [peer, `${dbos.steps} trivial steps`, `${perStep(dbos.msPerStep)}, best of ${dbos.rounds}`],
      [
        peer,
        `${dbos.steps} recorded steps replayed`,
        `${perStep(dbos.replayMsPerStep)}, best of ${dbos.rounds}`,
      ],
    )
  }
  if (mastra)
    rows.push([
      `Mastra ${versions['@mastra/core']}, LibSQL ${versions['@mastra/libsql']}, synchronous ${mastra.synchronous}`,
      `${mastra.steps} steps of 10 KB output`,
      growth(mastra),
    ])
  return rows
}
