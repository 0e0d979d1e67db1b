import { ClewError, type Ledger } from '@clew/ledger'
import type { Principal } from './principal.ts'
import type { Call, Route } from './route.ts'

/** Below a run, what the parts for React read. Comparisons and lineages are left out: they show other runs. */
const RUN_PATHS = new Set(
  [
    '',
    '/steps',
    '/steps/{stepId}',
    '/events',
    '/transcript',
    '/timeline',
    '/graph',
    '/state',
    '/cost',
    '/follow',
    '/ag-ui',
  ].map((path) => `/v1/runs/{runId}${path}`),
)

/** With a view token nothing exists but its run, or its stream and the sessions of it. */
export async function assertShown(call: Call, { method, path }: Route): Promise<void> {
  const { principal, params, ledger } = call
  if (!principal.only) return
  const { runId, sessionId, streamId } = params
  if (method === 'get') {
    if (runId !== undefined && RUN_PATHS.has(path) && (await showsRun(principal, runId, ledger))) return
    if (sessionId !== undefined && (await showsRun(principal, sessionId, ledger))) return
    if (streamId !== undefined && showsStream(principal, streamId)) return
  }
  throw new ClewError(
    'not_found',
    'This does not exist, or this view token does not show it',
    'A view token shows one run, or one stream with its sessions. Use another token for the rest.',
    {},
  )
}

export const showsStream = ({ only }: Principal, streamId: string): boolean =>
  !only || only.streamId === streamId

export async function showsRun({ only }: Principal, runId: string, ledger: Ledger): Promise<boolean> {
  if (!only || only.runId === runId) return true
  return only.streamId !== undefined && (await ledger.getRun(runId))?.session?.streamId === only.streamId
}
