import type { Ledger } from '@clew/ledger'
import { agent, append, recordAnswers, replay, type Run, START, StateGraph, startWorker } from '@clew/runtime'
import { openLedger } from 'clew'

/**
 * `node unawaited-failure-child.ts DATABASE SHAPE HOW`: two runs at once in one process, one of which makes a call that
 * fails and that nobody awaits. Prints how both came out as a line of JSON and ends by itself.
 */
const [, , database = '', shape = '', how = ''] = process.argv
const fail = (): never => {
  throw new Error('it failed')
}
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => void setImmediate(resolve))
}

const MAX_WAIT_MS = 60_000
/** Goes on until the run ends. */
const goOn = (run: Run): Promise<unknown> =>
  run.effect('goes on', null, (_, { signal }) =>
    Promise.race([
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
      new Promise((resolve) => {
        const timer = setTimeout(resolve, MAX_WAIT_MS, 'nobody ended the run')
        signal.addEventListener('abort', () => clearTimeout(timer))
      }),
    ]),
  )

/** Each begins something that fails and that nobody awaits, then goes on. */
const SHAPES: Readonly<Record<string, (run: Run) => Promise<unknown>>> = {
  'an effect': (run) => {
    void run.effect('fails', null, fail)
    return goOn(run)
  },
  'an effect that fails late': (run) => {
    void run.effect('fails', null, async () => {
      await turns(30)
      return fail()
    })
    return goOn(run)
  },
  'a step': (run) => {
    void run.step('fails', null, fail)
    return goOn(run)
  },
  'a child': (run) => {
    void run.child(agent('kid', fail), null)
    return goOn(run)
  },
  'an effect in a body': (run) =>
    run.step('body', null, (_, inner) => {
      void inner.effect('fails', null, fail)
      return goOn(inner)
    }),
  'what is derived by then': (run) => {
    void run.effect('fails', null, fail).then((value) => value)
    return goOn(run)
  },
  'what is derived twice': (run) => {
    void run
      .effect('fails', null, fail)
      .then((value) => value)
      .finally(() => undefined)
    return goOn(run)
  },
  'what an async function awaits': (run) => {
    void (async () => run.effect('fails', null, fail))()
    return goOn(run)
  },
  'what wraps the error': (run) => {
    void run.effect('fails', null, fail).catch((cause: unknown) => {
      throw new Error('it failed', { cause })
    })
    return goOn(run)
  },
  'a call with bad options': (run) => {
    void run
      .effect('fails', null, () => 1, { timeoutMs: -1 })
      .catch((cause: unknown) => {
        throw new Error('it failed', { cause })
      })
    return goOn(run)
  },
  'one of Promise.all': (run) => {
    void Promise.all([run.effect('fails', null, fail), run.effect('other', null, () => 1)])
    return goOn(run)
  },
  'a chain that rejects after the run has ended': async (run) => {
    const work = async (): Promise<void> => {
      try {
        await run.effect('fails', null, fail)
      } catch (error) {
        await hasEnded
        await turns(20)
        throw error
      }
    }
    void work()
    return run.effect('ends', null, () => turns(3))
  },
  'what is handled at once': (run) => {
    run.effect('fails', null, fail).catch(() => 'handled')
    return run.effect('ends', null, () => turns(20))
  },
  'what is handled late': async (run) => {
    const fails = run.effect('fails', null, fail)
    await run.effect('ends', null, () => turns(20))
    return fails.catch(() => 'handled')
  },
  'a promise of the own code': (run) => {
    void Promise.reject(new Error('of the own code'))
    return run.effect('ends', null, () => turns(20))
  },
}

let sayEnded = (): void => {}
const hasEnded = new Promise<void>((resolve) => {
  sayEnded = resolve
})

const isAsked = how === 'resume' || how === 'worker'
const failing = agent('failing', async (run) => {
  if (isAsked) await run.interrupt('Go on?')
  return SHAPES[shape]?.(run)
})
const innocent = agent('innocent', async (run) => {
  if (how === 'worker') await run.interrupt('Go on?')
  for (let n = 0; n < 10; n++) await run.effect('look', n, () => turns(10))
  return 'unharmed'
})

const graphOf = (ledger: Ledger) =>
  new StateGraph({ log: append<string>() })
    .addNode('work', async (_, run) => ({ log: String(await SHAPES[shape]?.(run)) }))
    .addEdge(START, 'work')
    .compile({ checkpointer: ledger, name: 'graph' })

/** Dies when the failure is on record: whoever resumes the run meets it again. */
const dyingAtFailure = (ledger: Ledger): Ledger => ({
  ...ledger,
  async append(...args) {
    const events = await ledger.append(...args)
    if (events.some(({ eventType }) => eventType === 'execution.step_failed'))
      process.kill(process.pid, 'SIGKILL')
    return events
  },
})

async function liveFailing(ledger: Ledger): Promise<unknown> {
  const options = { runId: 'failing' }
  if (how === 'killed') return failing.start(dyingAtFailure(ledger), null, options)
  if (how === 'again') return failing.resume(ledger, 'failing')
  if (how === 'graph') return graphOf(ledger).invoke({}, options)
  const started = await failing.start(ledger, null, options)
  return isAsked ? failing.resume(ledger, 'failing', { answer: 'yes' }) : started
}

async function underWorker(ledger: Ledger): Promise<void> {
  for (const each of [failing, innocent]) {
    await each.start(ledger, null, { runId: each.name })
    await recordAnswers(ledger, each.name, { answer: 'yes' })
  }
  const worker = await startWorker({ ledger, agents: [failing, innocent] })
  const isOver = async (runId: string): Promise<boolean> => Boolean((await ledger.getRun(runId))?.endedAt)
  while (!(await isOver('failing')) || !(await isOver('innocent')))
    await new Promise((resolve) => void setTimeout(resolve, 20))
  await worker.stop()
}

const ledger = await openLedger(`sqlite:${database}`)
if (how === 'worker') await underWorker(ledger)
else {
  const other = innocent.start(ledger, null, { runId: `innocent ${how}` })
  await liveFailing(ledger)
  sayEnded()
  await other
}
// What rejects late has its turn before this process says that it is well.
await turns(100)
const said: { readonly status: string | undefined; readonly error: string | undefined }[] = await Promise.all(
  ['failing', how === 'worker' ? 'innocent' : `innocent ${how}`].map(async (runId) => {
    const run = await ledger.getRun(runId)
    return { status: run?.status, error: run?.error?.message ?? undefined }
  }),
)
if (how === 'replay') {
  const { verdict: status } = await replay(failing, { ledger, runId: 'failing' })
  await turns(100)
  said.push({ status, error: undefined })
}
await ledger.close()
console.log(JSON.stringify(said))
