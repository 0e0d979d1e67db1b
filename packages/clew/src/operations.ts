import { answer } from './operations/answer.ts'
import { audit } from './operations/audit.ts'
import { causes, effects } from './operations/causality.ts'
import { completion } from './operations/completion.ts'
import { compliance } from './operations/compliance.ts'
import { cost } from './operations/cost.ts'
import { debug } from './operations/debug.ts'
import { demo } from './operations/demo.ts'
import { diff } from './operations/diff.ts'
import { doctor } from './operations/doctor.ts'
import { erase } from './operations/erase.ts'
import { event } from './operations/event.ts'
import { events } from './operations/events.ts'
import { explain } from './operations/explain.ts'
import { exportEvents } from './operations/export.ts'
import { fork } from './operations/fork.ts'
import { gc } from './operations/gc.ts'
import { graph } from './operations/graph.ts'
import { holdAdd, holdList, holdRelease } from './operations/hold.ts'
import { importEvents } from './operations/import.ts'
import { init } from './operations/init.ts'
import { lineage } from './operations/lineage.ts'
import {
  memoryContext,
  memoryExport,
  memoryGet,
  memoryList,
  memorySearch,
} from './operations/memory-reads.ts'
import { memoryForget, memoryImport, memoryPut, memorySweep } from './operations/memory-writes.ts'
import { mcp } from './operations/mcp.ts'
import type { Operation } from './operations/operation.ts'
import { pause } from './operations/pause.ts'
import { policy } from './operations/policy.ts'
import { preview } from './operations/preview.ts'
import { queueList, queueSet } from './operations/queue.ts'
import { rebuild } from './operations/rebuild.ts'
import { reindex } from './operations/reindex.ts'
import { replay } from './operations/replay.ts'
import { result } from './operations/result.ts'
import { resume } from './operations/resume.ts'
import { retention } from './operations/retention.ts'
import { runs } from './operations/runs.ts'
import {
  scheduleList,
  scheduleNext,
  schedulePause,
  scheduleRemove,
  scheduleResume,
  scheduleSet,
  scheduleShow,
} from './operations/schedule.ts'
import { score } from './operations/score.ts'
import { search } from './operations/search.ts'
import { serve } from './operations/serve.ts'
import { show } from './operations/show.ts'
import { start } from './operations/start.ts'
import { signal } from './operations/signal.ts'
import { skill } from './operations/skill.ts'
import { state } from './operations/state.ts'
import { step } from './operations/step.ts'
import { steps } from './operations/steps.ts'
import { stop } from './operations/stop.ts'
import { tag } from './operations/tag.ts'
import { tail } from './operations/tail.ts'
import { timeline } from './operations/timeline.ts'
import { tokenCreate, tokenList, tokenRevoke } from './operations/token.ts'
import { transcript } from './operations/transcript.ts'
import { value } from './operations/value.ts'
import { vaultRotate } from './operations/vault.ts'
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
  step,
  value,
  state,
  lineage,
  graph,
  causes,
  effects,
  events,
  event,
  tail,
  cost,
  diff,
  explain,
  memoryList,
  memoryGet,
  memorySearch,
  memoryContext,
  memoryPut,
  memoryForget,
  memorySweep,
  memoryExport,
  memoryImport,
  start,
  result,
  queueList,
  queueSet,
  debug,
  resume,
  answer,
  fork,
  preview,
  signal,
  pause,
  stop,
  tag,
  score,
  worker,
  scheduleSet,
  scheduleList,
  scheduleShow,
  scheduleNext,
  schedulePause,
  scheduleResume,
  scheduleRemove,
  replay,
  verify,
  gc,
  retention,
  holdAdd,
  holdList,
  holdRelease,
  audit,
  compliance,
  erase,
  policy,
  exportEvents,
  importEvents,
  rebuild,
  reindex,
  vaultRotate,
  demo,
  doctor,
  init,
  serve,
  mcp,
  skill,
  tokenCreate,
  tokenList,
  tokenRevoke,
  completion,
] as const satisfies readonly Operation[]

export type OperationName = (typeof operations)[number]['name']
