import { randomUUID } from 'node:crypto'
import { ClewError } from '@clew/ledger'
import { readSession, streamRunId } from '@clew/trace'
import { z } from 'zod'
import type { App } from '../create-app.ts'
import type { RouteParameter } from '../route.ts'
import { mountJson } from './json-route.ts'
import { id, sessionDetail } from './schemas.ts'
import { readPaging, WORKSPACE } from './stream-routes.ts'

const MAX_STEPS = 1000
const PAGING: readonly RouteParameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'maximum number of steps, the newest; default all',
    schema: { type: 'integer', minimum: 1, maximum: MAX_STEPS },
  },
  { name: 'cursor', in: 'query', description: 'previousCursor of the previous answer' },
]
const SESSION = '/api/workspaces/{workspaceId}/agent-sessions/{sessionId}'
const PARAMETERS: readonly RouteParameter[] = [
  WORKSPACE,
  { name: 'sessionId', in: 'path', description: 'id of the session', required: true },
]

export function mountSessions(app: App): void {
  mountJson(
    app,
    {
      id: 'readSession',
      method: 'get',
      path: SESSION,
      summary: 'A session with its steps, its persona and related sessions',
      scope: 'read',
      parameters: [...PARAMETERS, ...PAGING],
      answer: { description: 'the session', schema: sessionDetail },
    },
    (call) => {
      const { cursor: before, limit } = readPaging(call, MAX_STEPS)
      return readSession(call.ledger, call.params['sessionId'] as string, { limit, before })
    },
  )
  mountJson(
    app,
    {
      id: 'rerunSession',
      method: 'post',
      path: `${SESSION}/rerun`,
      summary: 'Request another session instead of this one, which is superseded when an agent starts it',
      scope: 'control',
      parameters: PARAMETERS,
      answer: {
        description: 'id of the new session, so that its room can be joined',
        status: 202,
        schema: z.object({ sessionId: id }),
      },
    },
    async ({ ledger, params }) => {
      const supersedes = params['sessionId'] as string
      const session = (await ledger.getRun(supersedes))?.session
      if (!session)
        throw new ClewError('not_found', `There is no session ${supersedes}`, 'Name one of this workspace.', {
          sessionId: supersedes,
        })
      const { streamId, triggerMessageId } = session
      const sessionId = randomUUID()
      await ledger.record({
        eventType: 'ui.session_requested',
        correlationId: streamRunId(streamId),
        source: { origin: 'ui', runtime: 'clew' },
        payload: { sessionId, streamId, triggerMessageId, supersedes },
      })
      return { sessionId }
    },
  )
}
