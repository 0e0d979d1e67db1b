import { type RunSummary, splitLines, type WireEvent } from '@clew/ledger'
import type { Operation } from '../operations/operation.ts'
import { askServer, type RemoteServer } from './ask-server.ts'
import { followServer } from './follow-server.ts'
import { notRemote } from './not-remote.ts'

/** The answer of the operation, as the server gives it. */
export async function answerRemote(
  server: RemoteServer,
  { name, rest }: Pick<Operation, 'name' | 'rest'>,
  input: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<unknown> {
  if (!rest) throw notRemote(`clew ${name}`, server.url)
  return (await askServer(server, { rest, input, signal })).json()
}

export async function* streamRemote(
  server: RemoteServer,
  { name, rest }: Pick<Operation, 'name' | 'rest'>,
  input: Record<string, unknown>,
  signal?: AbortSignal,
): AsyncGenerator {
  if (!rest) throw notRemote(`clew ${name}`, server.url)
  if (rest.isLive === true) return yield* tailRemote(server, rest.path, input, signal)
  const headers = { accept: 'application/x-ndjson' }
  const { body } = await askServer(server, { rest, input, headers, signal })
  if (body) for await (const line of splitLines(body)) yield JSON.parse(line)
}

/** One run is followed by its seq, everything by position. */
async function* tailRemote(
  server: RemoteServer,
  path: string,
  { runId, history, afterPosition, ...input }: Record<string, unknown>,
  signal?: AbortSignal,
): AsyncGenerator<WireEvent> {
  const from = typeof afterPosition === 'number' ? afterPosition : undefined
  if (runId === undefined) {
    const rest = { method: 'get', path } as const
    const after = from ?? (history === true ? 0 : undefined)
    const { untilEnd: _, ...wanted } = input
    return yield* followServer(server, { rest, input: { ...wanted, afterPosition: after }, signal })
  }
  const rest = { method: 'get', path: '/v1/runs/{runId}/follow' } as const
  const afterSeq = history === true || from !== undefined ? 0 : await headSeq(server, runId)
  for await (const event of followServer(server, { rest, input: { ...input, runId, afterSeq }, signal }))
    if (from === undefined || event.ledger.position > from) yield event
}

async function headSeq(server: RemoteServer, runId: unknown): Promise<number> {
  const rest = { method: 'get', path: '/v1/runs/{runId}' } as const
  const response = await askServer(server, { rest, input: { runId, steps: 0 } })
  const { run } = (await response.json()) as { run: RunSummary }
  return (run.forkedFrom?.seq ?? 0) + run.events
}
