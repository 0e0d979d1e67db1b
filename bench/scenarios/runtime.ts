import { join } from 'node:path'
import { append, END, last, type Ledger, openLedger, START, StateGraph } from 'clew'
import { type Figure, fileBytes, inTempFolder, median, prose, seconds } from '../measure.ts'
import { best, micro, onFile } from '../on-file.ts'
import { functionFigures } from './durable-function.ts'
import { peerResults } from './peers.ts'

const STEPS = 1000
/** Code that has run 15,000 supersteps is three times as fast as at first; the peer's has run as many before its last round. */
const ROUNDS = 20
const LONG = 10_000

const loopGraph = (steps: number) =>
  new StateGraph({ count: last(0) })
    .addNode('add', ({ count }) => ({ count: count + 1 }))
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ count }) => (count < steps ? 'add' : END), ['add', END])

const chatGraph = (messages: readonly string[]) =>
  new StateGraph({ messages: append<string>(), count: last(0) })
    .addNode('say', ({ count }) => ({ messages: [messages[count] as string], count: count + 1 }))
    .addEdge(START, 'say')

/** A ratio to a peer of the same run; without the peer there is nothing to hold it to. */
function beside(name: string, ours: number, peer: number | undefined, who: string, most: number): Figure {
  return peer === undefined
    ? { name, ours: micro(ours), beside: `${who} was left out`, ratio: 0 }
    : { name, ours: micro(ours), beside: `${who} ${micro(peer)}`, ratio: ours / peer, most }
}

async function loopFigures(): Promise<Figure[]> {
  const { langGraphLoop: loop } = await peerResults()
  const graph = loopGraph(STEPS)
  const run = async (ledger?: Ledger): Promise<void> => {
    const { status } = await graph.compile({ checkpointer: ledger, name: 'loop' }).invoke({ count: 0 })
    if (status !== 'completed') throw new Error(`the loop came out ${status}`)
  }
  const perStep = (time: number): number => (time * 1e6) / STEPS
  const free = perStep(await best(ROUNDS, () => run()))
  const normal = perStep(await onFile((ledger) => best(ROUNDS, () => run(ledger))))
  const full = perStep(await onFile((ledger) => best(3, () => run(ledger)), 'full'))
  const peer = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : value * 1000
  return [
    beside(
      'superstep of a loop, no store',
      free,
      peer(loop?.msPerStep.noSaver),
      'LangGraph.js without saver',
      1 / 20,
    ),
    beside(
      'superstep of a loop, SQLite, committed before the next',
      normal,
      peer(loop?.msPerStep.sqliteSync),
      'LangGraph.js, SQLite saver, sync',
      1 / 8,
    ),
    beside(
      'the same, each commit on disk (FULL)',
      full,
      peer(loop?.msPerStep.sqliteSyncFull),
      'LangGraph.js, SQLite saver, sync, FULL',
      1 / 2,
    ),
  ]
}

interface Grown {
  readonly bytes: number
  readonly early: number
  readonly late: number
}

/** Time per step around the 100th and at the end, and the size of the file after closing. */
async function growth(work: (ledger: Ledger, tick: () => void) => Promise<void>): Promise<Grown> {
  return inTempFolder(async (folder) => {
    const path = join(folder, 'chat.db')
    const ledger = await openLedger(`sqlite:${path}`)
    const times: number[] = []
    try {
      await work(ledger, () => void times.push(performance.now()))
    } finally {
      await ledger.close()
    }
    const gaps = times.slice(1).map((time, i) => (time - (times[i] as number)) * 1000)
    return {
      bytes: fileBytes(path, `${path}-wal`),
      early: median(gaps.slice(50, 150)),
      late: median(gaps.slice(-100)),
    }
  })
}

async function chatFigures(): Promise<Figure[]> {
  const { langGraphChat: chat } = await peerResults()
  const messages = Array.from({ length: STEPS }, (_, i) => prose(1024, i))
  const one = await growth(async (ledger, tick) => {
    const graph = chatGraph(messages)
      .addConditionalEdges('say', ({ count }) => (tick(), count < STEPS ? 'say' : END), ['say', END])
      .compile({ checkpointer: ledger, name: 'chat' })
    await graph.invoke({})
  })
  const turns = await growth(async (ledger, tick) => {
    const graph = chatGraph(messages).compile({ checkpointer: ledger, name: 'turns' })
    for (let turn = 0; turn < STEPS; turn++) {
      const { status } = await graph.invoke({}, { threadId: 'thread' })
      if (status !== 'completed') throw new Error(`turn ${turn} came out ${status}`)
      tick()
    }
  })
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`
  const peer = chat
    ? `LangGraph.js ${megabytes(chat.loop.bytes)}, its delta channel ${megabytes(chat.deltaLoop.bytes)}`
    : 'LangGraph.js was left out'
  const perTurn = chat
    ? `LangGraph.js ${megabytes((chat.turns.bytes / chat.turns.steps) * STEPS)} at the rate of ${chat.turns.steps} turns`
    : 'LangGraph.js was left out'
  return [
    {
      name: 'chat, 1,000 steps of 1 KB: bytes on disk',
      ours: megabytes(one.bytes),
      beside: peer,
      ratio: one.bytes / 1e6,
      most: 2.5,
      unit: 'MB',
    },
    {
      name: 'chat: a step at 1,000 against one at 100',
      ours: micro(one.late),
      beside: micro(one.early),
      ratio: one.late / one.early,
      most: 1.3,
    },
    {
      name: 'chat as 1,000 turns: bytes on disk',
      ours: megabytes(turns.bytes),
      beside: perTurn,
      ratio: turns.bytes / 1e6,
      most: 7.85,
      unit: 'MB',
    },
    {
      name: 'chat as turns: one at 1,000 against one at 100',
      ours: micro(turns.late),
      beside: micro(turns.early),
      ratio: turns.late / turns.early,
      most: 1.3,
    },
  ]
}

/** A run of 10,000 supersteps with a state of about 100 KB: looking back, going on, forking. */
async function longFigures(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const path = join(folder, 'long.db')
    const build = (ledger: Ledger, onStep: () => void) =>
      new StateGraph({ notes: append<string>(), count: last(0) })
        .addNode('work', ({ count }) => {
          onStep()
          return { ...(count % 100 === 0 && { notes: [prose(1000, count)] }), count: count + 1 }
        })
        .addEdge(START, 'work')
        .addConditionalEdges('work', ({ count }) => (count < LONG + 5 ? 'work' : END), ['work', END])
        .compile({ checkpointer: ledger, name: 'long', recursionLimit: 2 * LONG })

    const first = await openLedger(`sqlite:${path}`)
    const enough = new AbortController()
    let steps = 0
    const { runId } = await build(first, () => {
      if (++steps === LONG) enough.abort('far enough')
    }).invoke({}, { signal: enough.signal })
    await first.close()

    const second = await openLedger(`sqlite:${path}`)
    const looks: number[] = []
    for (let i = 1; i < 40; i++) {
      const superstep = Math.floor((i * LONG) / 40)
      looks.push(await seconds(() => second.getState(runId, { superstep })))
    }
    const before = fileBytes(path)
    const graph = build(second, () => {})
    const forks: number[] = []
    let forkId = ''
    for (let i = 0; i < 50; i++) {
      const superstep = LONG - 10 * i - 1
      forks.push(
        await seconds(async () => {
          forkId = (await graph.fork({ runId, at: { superstep }, run: false })).runId
        }),
      )
    }
    await second.close()
    const grownBy = (fileBytes(path) - before) / forks.length

    const third = await openLedger(`sqlite:${path}`)
    let started = 0
    const begun = performance.now()
    await build(third, () => void (started ||= performance.now())).resume({ runId: forkId })
    const resumed = started - begun
    await third.close()
    if (resumed <= 0) throw new Error('the fork did not go on')
    const worst = Math.max(...looks) * 1000
    const each = median(forks) * 1000
    return [
      {
        name: 'state at any of 10,000 supersteps (100 KB)',
        ours: `at most ${worst.toFixed(1)} ms, median ${(median(looks) * 1000).toFixed(1)} ms`,
        beside: 'promise 10 ms',
        ratio: worst,
        most: 10,
        unit: 'ms',
      },
      {
        name: 'cold resume of 10,000 supersteps to its first new step',
        ours: `${resumed.toFixed(1)} ms`,
        beside: 'promise 200 ms',
        ratio: resumed,
        most: 200,
        unit: 'ms',
      },
      {
        name: 'fork of it',
        ours: `median ${each.toFixed(2)} ms`,
        beside: 'promise 5 ms',
        ratio: each,
        most: 5,
        unit: 'ms',
      },
      {
        name: 'fork of it: bytes on disk',
        ours: `${Math.round(grownBy)} B`,
        beside: 'promise 4 KB',
        ratio: grownBy / 1024,
        most: 4,
        unit: 'KB',
      },
    ]
  })
}

export async function runtimeFigures(): Promise<Figure[]> {
  return [
    ...(await loopFigures()),
    ...(await chatFigures()),
    ...(await functionFigures()),
    ...(await longFigures()),
  ]
}
