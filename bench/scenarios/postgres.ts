import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { agent, type EventInput, END, last, type Ledger, openLedger, START, StateGraph } from 'clew'
import { createDatabase, type TestDatabase } from '../../test/postgres/database.ts'
import { startServer } from '../../test/postgres/start-server.ts'
import { type BareRows, connect, dropTriggers, insertBare, readRows } from '../bare-postgres.ts'
import { type Figure, median, micros, rate, seconds, sideBySide } from '../measure.ts'
import { installPeers, type PeerName, type PeerResult, runPeer } from '../peers.ts'
import { GROUP, groupsOf } from '../postgres-events.ts'

/** As many as a writer of `postgres-writer.ts` has to do with, who writes the same rows bare. */
const EVENTS = 25_000
const ROUNDS = 5
const PROCESSES = 8
const EVENTS_EACH = 5000
const STEPS = 300
const STEP_ROUNDS = 25
/** Rounds before, so that a step is judged when its code is compiled. */
const WARM_ROUNDS = 10
const FOLLOWED = 10_000
const LONG = 100_000
const WINDOW = 100
const WRITER = new URL('../postgres-writer.ts', import.meta.url).pathname

type Place = (schema: string) => string

const group = (ledger: Ledger, groups: readonly EventInput[][]): Promise<void> =>
  groups.reduce(
    (before, each) => before.then(async () => void (await ledger.append(each))),
    Promise.resolve(),
  )

async function withLedger<T>(url: string, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openLedger(url)
  try {
    return await work(ledger)
  } finally {
    await ledger.close()
  }
}

/** An empty ledger's tables without their triggers, and a connection to them. */
async function withBare<T>(
  url: string,
  work: (client: Awaited<ReturnType<typeof connect>>['client']) => Promise<T>,
) {
  await withLedger(url, async () => {})
  const { client } = await connect(url)
  try {
    await dropTriggers(client)
    return await work(client)
  } finally {
    await client.end()
  }
}

async function groupedFigure(at: Place): Promise<Figure> {
  const groups = groupsOf(EVENTS, GROUP, (n) => `run-${n % 10}`)
  await withLedger(at('rows'), (ledger) => group(ledger, groups))
  const rows = await readRows(at('rows'), EVENTS)
  const { ours, floor } = await sideBySide(
    ROUNDS,
    (round) => withLedger(at(`ours_${round}`), (ledger) => seconds(() => group(ledger, groups))),
    (round) => withBare(at(`bare_${round}`), (client) => seconds(() => insertBare(client, rows, GROUP))),
  )
  return {
    name: 'PostgreSQL: grouped append, 500-byte events',
    ours: rate(EVENTS, ours),
    beside: `bare unnest insert of the same rows ${rate(EVENTS, floor)}`,
    ratio: floor / ours,
    least: 0.6,
  }
}

interface Program {
  go(): void
  /** Resolves with its next word. */
  said(word: string): Promise<void>
}

function startProgram(
  how: 'ours' | 'bare' | 'paced',
  url: string,
  who: number,
  events: number,
  rows = '',
): Program {
  const args = ['--conditions=@clew/source', WRITER, how, url, String(who), String(events), rows]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    go: () => void child.stdin.write('go\n'),
    async said(word) {
      const { value, done } = await lines.next()
      if (done || value !== word)
        throw new Error(`a writer said ${done ? 'nothing' : value} instead of ${word}`)
      if (word === 'done') await once(child, 'exit')
    },
  }
}

/** All of them begin at once; until the last one is done. */
async function together(how: 'ours' | 'bare', at: Place, round: number): Promise<number> {
  const url = at(`${how}_many_${round}`)
  if (how === 'ours') await withLedger(url, async () => {})
  else await withBare(url, async () => {})
  const programs = Array.from({ length: PROCESSES }, (_, who) =>
    startProgram(how, url, who, EVENTS_EACH, at('rows')),
  )
  await Promise.all(programs.map((program) => program.said('ready')))
  return seconds(() => Promise.all(programs.map((program) => (program.go(), program.said('done')))))
}

async function manyFigure(at: Place): Promise<Figure> {
  const { ours, floor } = await sideBySide(
    3,
    (round) => together('ours', at, round),
    (round) => together('bare', at, round),
  )
  return {
    name: `PostgreSQL: grouped append by ${PROCESSES} processes`,
    ours: rate(PROCESSES * EVENTS_EACH, ours),
    beside: `bare \`pg\` in ${PROCESSES} processes ${rate(PROCESSES * EVENTS_EACH, floor)}`,
    ratio: floor / ours,
    least: 0.6,
  }
}

/** From the ledger's own stamp, which is made just before the commit, to delivery in another process. */
async function followFigures(at: Place): Promise<Figure[]> {
  const delays: number[] = []
  await withLedger(at('followed'), async (ledger) => {
    const writer = startProgram('paced', at('followed'), 0, FOLLOWED)
    await writer.said('ready')
    const following = (async () => {
      for await (const event of ledger.follow()) {
        delays.push(Date.now() - Date.parse(event.ledger.recordedAt))
        if (delays.length === FOLLOWED) return
      }
    })()
    writer.go()
    await writer.said('done')
    await following
  })
  const sorted = delays.toSorted((a, b) => a - b)
  const figure = (part: number, most: number): Figure => ({
    name: `PostgreSQL: follow at 2,000 events/s, commit to delivery, p${part}`,
    ours: `${sorted[Math.floor((FOLLOWED * part) / 100)]} ms`,
    beside: `promise ${most} ms`,
    ratio: sorted[Math.floor((FOLLOWED * part) / 100)] as number,
    most,
    unit: 'ms',
  })
  return [figure(50, 10), figure(99, 100)]
}

const ms = (value: number): string => `${value.toFixed(2)} ms`
/** Tells the seconds of its steps: what a run costs around them is no part of a step. */
const count = agent('count', (run, steps: number) =>
  seconds(async () => {
    for (let n = 0; n < steps; n++) await run.step('one', { n }, () => n)
  }),
)
async function secondsOfSteps(ledger: Ledger): Promise<number> {
  const { output } = await count.start(ledger, STEPS)
  if (output === undefined) throw new Error('a run of steps did not end')
  return output
}
const loop = new StateGraph({ count: last(0) })
  .addNode('add', (state) => ({ count: state.count + 1 }))
  .addEdge(START, 'add')
  .addConditionalEdges('add', (state) => (state.count < STEPS ? 'add' : END), ['add', END])

/** A ratio to a peer of the same run; without the peer there is nothing to hold it to. */
function beside(
  name: string,
  ours: number,
  who: string,
  peer: PeerResult<'dbos' | 'langgraph-postgres'>,
): Figure {
  if ('leftOut' in peer) {
    process.stdout.write(`  left out: ${peer.leftOut}\n`)
    return { name, ours: ms(ours), beside: `${who} was left out`, ratio: 0 }
  }
  const { msPerStep } = peer.figures
  return { name, ours: ms(ours), beside: `${who} ${ms(msPerStep)}`, ratio: ours / msPerStep, most: 1 / 2 }
}

async function stepFigures(at: Place, database: (name: string) => Promise<TestDatabase>): Promise<Figure[]> {
  const rows = await readRows(at('rows'), STEPS)
  const perStep = (time: number): number => (time * 1000) / STEPS
  const best = await withLedger(at('steps'), (ledger) =>
    withBare(at('bare_steps'), async (client) => {
      const bare = (round: number): Promise<number> =>
        seconds(() => insertBare(client, apart(rows, round), 1))
      for (let round = 1; round <= WARM_ROUNDS; round++) {
        await bare(-round - 1)
        await secondsOfSteps(ledger)
      }
      return sideBySide(STEP_ROUNDS, () => secondsOfSteps(ledger), bare)
    }),
  )
  /** Before and after the peer, so that a neighbour who is busy during one of them does not decide. */
  const leastSuperstep = (): Promise<number> =>
    withLedger(at('loop'), async (ledger) => {
      const graph = loop.compile({ checkpointer: ledger, name: 'loop' })
      let least = Number.POSITIVE_INFINITY
      for (let round = 0; round < ROUNDS; round++)
        least = Math.min(least, perStep(await seconds(() => graph.invoke({ count: 0 }))))
      return least
    })
  const reason = await installPeers()
  const peer = async <Name extends PeerName>(name: Name): Promise<PeerResult<Name>> =>
    reason === undefined
      ? runPeer(name, { steps: STEPS }, { CLEW_BENCH_POSTGRES: (await database(name)).url })
      : { leftOut: reason }
  const step = perStep(best.ours)
  const dbos = await peer('dbos')
  const before = await leastSuperstep()
  const langGraph = await peer('langgraph-postgres')
  const superstep = Math.min(before, await leastSuperstep())
  return [
    {
      name: 'PostgreSQL: a durable step, awaited, one run',
      ours: ms(step),
      beside: `one bare committed insert ${ms(perStep(best.floor))}`,
      ratio: best.ours / best.floor,
      most: 1.7,
    },
    beside('PostgreSQL: a durable step', step, 'DBOS', dbos),
    beside(
      'PostgreSQL: superstep of a loop, committed before the next',
      superstep,
      'LangGraph.js, PostgreSQL saver, sync',
      langGraph,
    ),
  ]
}

/** The same rows under other keys. */
function apart(
  { events: [positions = [], ...events], payloads: [, ...payloads] }: BareRows,
  round: number,
): BareRows {
  const moved = positions.map((position) => Number(position) + (round + 1) * 1e12)
  const [runs = [], ...rest] = events
  return {
    events: [moved, runs.map((run) => Number(run) + (round + 1) * 1e12), ...rest],
    payloads: [moved, ...payloads],
  }
}

async function flatFigure(at: Place): Promise<Figure> {
  const times: number[] = []
  await withLedger(at('flat'), async (ledger) => {
    for (const each of groupsOf(LONG, GROUP, () => 'one'))
      times.push(await seconds(() => ledger.append(each)))
  })
  const [early, late] = [median(times.slice(WINDOW / 2, WINDOW * 1.5)), median(times.slice(-WINDOW))]
  return {
    name: `PostgreSQL: flat: at ${LONG.toLocaleString('en')} events of one run`,
    ours: `${micros(late, GROUP)} an event`,
    beside: `at 10,000 events ${micros(early, GROUP)}`,
    ratio: late / early,
    most: 1.3,
  }
}

/** Both sides on one server, from the packaged binaries, whose commits wait for the disk. */
export async function postgresFigures(): Promise<Figure[]> {
  process.env['CLEW_SECRET'] ??= 'a secret of the bench, long enough'
  const server = await startServer({ durable: true })
  try {
    const { url } = await createDatabase({ server: server.url })
    const at: Place = (schema) => `${url}?schema=${schema}`
    return [
      await groupedFigure(at),
      await manyFigure(at),
      ...(await followFigures(at)),
      ...(await stepFigures(at, () => createDatabase({ server: server.url }))),
      await flatFigure(at),
    ]
  } finally {
    await server.close()
  }
}
