import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { agent, append, replay, type ReplayTarget, type Run, START, StateGraph } from '@clew/runtime'
import { openLedger } from 'clew'

/**
 * `node given-up-child.ts CASE`: records a run, replays it with changed code that holds a timer of 600 s until it is
 * unwound, prints the verdict as a line of JSON, and has nothing more to do.
 */
const [, , name = ''] = process.argv
const LONG_MS = 600_000

/** What clients of model APIs do around each request. */
async function withTimer<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const control = new AbortController()
  const timer = setTimeout(() => control.abort(), LONG_MS)
  try {
    return await work(control.signal)
  } finally {
    clearTimeout(timer)
  }
}

const ledger = await openLedger('memory:')
/** Changed code makes one call more than the record has: nothing can be given back for that. */
async function effect(run: Run, what: string): Promise<string> {
  const recorded = await run.effect('recorded', what.endsWith('too'), () => 'recorded')
  return what.startsWith('recorded') ? recorded : run.effect(what, null, () => what)
}

type Make = (what: string) => ReplayTarget & { readonly begin: () => Promise<string> }
const functionOf = (code: (run: Run, what: string) => Promise<unknown>, recordFetch = false): Make => {
  return (what) => {
    const made = agent('a', (run) => code(run, what), { recordFetch })
    return { ...made, begin: async () => (await made.start(ledger, null)).runId }
  }
}

const CASES: Readonly<Record<string, Make>> = {
  effect: functionOf((run, what) => withTimer(() => effect(run, what))),
  branches: functionOf((run, what) =>
    Promise.all([withTimer(() => effect(run, what)), withTimer(() => effect(run, `${what} too`))]),
  ),
  body: functionOf((run, what) => run.step('body', null, (_, inner) => withTimer(() => effect(inner, what)))),
  child: functionOf((run, what) =>
    withTimer(() =>
      run.child(
        agent('kid', (own) => withTimer(() => effect(own, what))),
        null,
      ),
    ),
  ),
  pause: functionOf(async (run, what) => {
    await effect(run, what)
    return withTimer(() => run.interrupt('Go on?'))
  }),
  'tries again for ever': functionOf(async (run, what) => {
    for (;;)
      try {
        return await withTimer(() => effect(run, what))
      } catch {
        // As a client does that tries again whatever happened.
      }
  }),
  node: (what) => {
    const graph = new StateGraph({ log: append<string>() })
      .addNode('work', async (_, run) => ({ log: await withTimer(() => effect(run, what)) }))
      .addEdge(START, 'work')
      .compile({ checkpointer: ledger, name: 'a' })
    return { ...graph, begin: async () => (await graph.invoke({})).runId }
  },
}

async function replayed(make: Make): Promise<string> {
  const runId = await make('recorded').begin()
  return (await replay(make('other'), { ledger, runId, graceMs: 30 })).verdict
}

async function fetched(): Promise<string> {
  const server = createServer((_, response) => response.end('{}')).listen(0)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const make = functionOf(
    (_, what) => withTimer(async (signal) => (await fetch(url + what, { signal })).status),
    true,
  )
  const runId = await make('recorded').begin()
  server.close()
  server.closeAllConnections()
  return (await replay(make('other'), { ledger, runId, graceMs: 30 })).verdict
}

const made = CASES[name]
const verdict = made ? await replayed(made) : await fetched()
await ledger.close()
console.log(JSON.stringify(verdict))
