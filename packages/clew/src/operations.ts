import { demo } from './operations/demo.ts'
import { doctor } from './operations/doctor.ts'
import { events } from './operations/events.ts'
import { exportEvents } from './operations/export.ts'
import { importEvents } from './operations/import.ts'
import type { Operation } from './operations/operation.ts'
import { runs } from './operations/runs.ts'
import { show } from './operations/show.ts'
import { tail } from './operations/tail.ts'
import { verify } from './operations/verify.ts'

/** All that can be done with a ledger from outside; CLI, REST and MCP are checked against this list (A1). */
export const operations = [
  runs,
  show,
  events,
  tail,
  verify,
  exportEvents,
  importEvents,
  demo,
  doctor,
] as const satisfies readonly Operation[]

export type OperationName = (typeof operations)[number]['name']
