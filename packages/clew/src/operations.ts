import { audit } from './operations/audit.ts'
import { causes, effects } from './operations/causality.ts'
import { completion } from './operations/completion.ts'
import { compliance } from './operations/compliance.ts'
import { cost } from './operations/cost.ts'
import { demo } from './operations/demo.ts'
import { diff } from './operations/diff.ts'
import { doctor } from './operations/doctor.ts'
import { events } from './operations/events.ts'
import { explain } from './operations/explain.ts'
import { exportEvents } from './operations/export.ts'
import { fork } from './operations/fork.ts'
import { graph } from './operations/graph.ts'
import { importEvents } from './operations/import.ts'
import { lineage } from './operations/lineage.ts'
import type { Operation } from './operations/operation.ts'
import { rebuild } from './operations/rebuild.ts'
import { reindex } from './operations/reindex.ts'
import { replay } from './operations/replay.ts'
import { resume } from './operations/resume.ts'
import { runs } from './operations/runs.ts'
import { search } from './operations/search.ts'
import { show } from './operations/show.ts'
import { state } from './operations/state.ts'
import { steps } from './operations/steps.ts'
import { stop } from './operations/stop.ts'
import { tail } from './operations/tail.ts'
import { timeline } from './operations/timeline.ts'
import { transcript } from './operations/transcript.ts'
import { verify } from './operations/verify.ts'
import { worker } from './operations/worker.ts'

/** All that can be done with a ledger from outside; CLI, REST and MCP are checked against this list (A1). */
export const operations = [
  runs,
  search,
  show,
  transcript,
  timeline,
  steps,
  state,
  lineage,
  graph,
  causes,
  effects,
  events,
  tail,
  cost,
  diff,
  explain,
  resume,
  fork,
  stop,
  worker,
  replay,
  verify,
  audit,
  compliance,
  exportEvents,
  importEvents,
  rebuild,
  reindex,
  demo,
  doctor,
  completion,
] as const satisfies readonly Operation[]

export type OperationName = (typeof operations)[number]['name']
