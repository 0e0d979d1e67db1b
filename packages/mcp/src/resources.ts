import { ClewError, type Ledger } from '@clew/ledger'
import type { McpParts } from './mcp-parts.ts'
import { plainLine } from './plain-line.ts'
import { runTool } from './run-tool.ts'
import type { Session } from './tool.ts'

const PAGE = 20
const MIME = 'text/plain'

export const RESOURCE_TEMPLATES = [
  {
    name: 'run',
    uriTemplate: 'clew://runs/{runId}',
    description: 'A run: status, steps and last events',
    mimeType: MIME,
  },
  {
    name: 'step',
    uriTemplate: 'clew://runs/{runId}/steps/{stepId}',
    description: 'A step of a run with its input and output; both ids percent-encoded',
    mimeType: MIME,
  },
] as const

/** The newest runs, a page at a time. */
export async function listRunResources(ledger: Ledger, cursor: string | undefined) {
  const { runs, nextCursor } = await ledger.listRuns({ limit: PAGE, cursor })
  return {
    resources: runs.map(({ runId, status, agent, startedAt }) => ({
      uri: `clew://runs/${encodeURIComponent(runId)}`,
      name: plainLine(runId),
      description: plainLine(`${status} run of ${agent ?? 'an unnamed agent'}, ${startedAt}`),
      mimeType: MIME,
    })),
    ...(nextCursor !== null && { nextCursor }),
  }
}

/** What `get_run` or `get_step` answers. */
export async function readResource(parts: McpParts, session: Session, uri: string, signal: AbortSignal) {
  const [, run, step] = /^clew:\/\/runs\/([^/]+)(?:\/steps\/([^/]+))?$/.exec(uri) ?? []
  if (run === undefined)
    throw new ClewError(
      'not_found',
      'There is no such resource',
      'Use clew://runs/{runId} or clew://runs/{runId}/steps/{stepId}.',
      { uri: uri.slice(0, 200) },
    )
  const runId = decode(run)
  const call =
    step === undefined
      ? { name: 'get_run', arguments: { runId } }
      : { name: 'get_step', arguments: { runId, stepId: decode(step) } }
  const text = await runTool(parts, session, { ...call, client: 'a resource', signal })
  return { contents: [{ uri, mimeType: MIME, text }] }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new ClewError('bad_option', 'The address is not percent-encoded', 'Encode the id.', {})
  }
}
