import { ClewError, formatStepId, type Ledger } from '@clew/ledger'
import type { GraphRun } from './graph-run.ts'
import { createRecordedRun, createScope, type RecordedRun, type Scope } from './recorded-run.ts'

type Fields = Readonly<Record<string, unknown>>

/** One invocation of a graph whose runs a saver writes. */
export interface JoinedGraph {
  /** Runs of the graph and its sub-graphs of which callbacks reported something. */
  readonly runs: ReadonlyMap<string, Promise<RecordedRun>>
  /** The run of a namespace. */
  runOf(ns: string): Promise<RecordedRun>
  /** Run and scope of a node: its calls belong to the step that the saver records. */
  nodeOf(name: string, metadata: Fields): Promise<{ readonly run: RecordedRun; readonly scope: Scope }>
}

/** Undefined if the saver has begun no run. */
export async function openJoinedGraph(ledger: Ledger, graph: GraphRun): Promise<JoinedGraph | undefined> {
  const runs = new Map<string, Promise<RecordedRun>>()

  async function open(ns: string): Promise<RecordedRun> {
    const runId = await graph.runOf(ns)
    if (runId === undefined)
      throw new ClewError(
        'not_found',
        'The saver has begun no run for a graph that calls its nodes',
        'What the callbacks tell of it is left out of the record.',
      )
    return createRecordedRun({
      ledger,
      runId,
      owns: false,
      runtime: 'langgraph',
      scope: createScope(null, null),
      past: await ledger.getSkeleton(runId),
      append: (events) => graph.append(ns, runId, events),
    })
  }

  function runOf(ns: string): Promise<RecordedRun> {
    const run = runs.get(ns) ?? open(ns)
    runs.set(ns, run)
    return run
  }

  if ((await graph.runOf('')) === undefined) return undefined
  return {
    runs,
    runOf,
    async nodeOf(name, metadata) {
      const { langgraph_step: step, langgraph_path: path, langgraph_checkpoint_ns: given } = metadata
      const ns = typeof given === 'string' ? given : ''
      const cut = ns.lastIndexOf('|')
      const run = await runOf(cut < 0 ? '' : ns.slice(0, cut))
      // The framework counts from the input on, the ledger from the checkpoint before it.
      const superstep = typeof step === 'number' ? step + 1 : 0
      const isSent = Array.isArray(path) && path[0] === '__pregel_push'
      const sent = isSent ? sentPart(path as unknown[], ns) : ''
      const stepId = formatStepId({ parentStepId: null, name, key: `s${superstep}${sent}`, ordinal: 0 })
      return { run, scope: { ...createScope(stepId, null), superstep } }
    },
  }
}

/** Packets are numbered; tasks of the functional API have only their id. */
function sentPart(path: readonly unknown[], ns: string): string {
  if (typeof path[1] === 'number') return `.i${path[1]}`
  return `.${ns.slice(ns.lastIndexOf(':') + 1).slice(0, 8)}`
}
