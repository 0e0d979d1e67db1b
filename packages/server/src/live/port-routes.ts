import { randomUUID } from 'node:crypto'
import { ClewError, type JsonValue, type Lease } from '@clew/ledger'
import { findStops, takeSession } from '@clew/trace'
import { z } from 'zod'
import type { App } from '../create-app.ts'
import type { Call } from '../route.ts'
import { mountJson } from './json-route.ts'

const id = z.string().min(1).max(512)
const stepId = z.string().min(1).max(4096)
const count = z.int().min(0)

const note = z.strictObject({
  runId: id,
  stepId,
  attempt: z.int().min(1),
  stepType: z.string().min(1).max(200),
  version: count,
  content: z.unknown().transform((content) => (content ?? null) as JsonValue),
  at: z.iso.datetime(),
})
const lease = z.strictObject({
  workspace: id,
  runId: id,
  owner: z.string().max(512),
  epoch: count,
  threadId: id.nullable(),
  heartbeatAt: z.string().max(40),
})
const openStep = z.object({ stepId: z.string(), attempt: z.int() })
const taken = z.object({
  lease,
  found: z
    .object({
      status: z.string(),
      seq: z.int(),
      startId: z.string().nullable(),
      stepCount: z.int(),
      openSteps: z.array(openStep),
    })
    .nullable(),
  /** The event of the message that it answers. */
  triggerEventId: z.string().nullable(),
})
const done = { description: 'done', schema: z.object({ ok: z.literal(true) }) }

const SESSION = { sessionId: 'session-7', streamId: 'general', supersedes: null }
const LEASE: Lease = {
  workspace: 'default',
  runId: 'session-7',
  owner: 'server-1',
  epoch: 1,
  threadId: 'general',
  heartbeatAt: '2026-11-15T07:17:00.123Z',
}

/** The other end of a `TraceEmitter` that writes through a server: what a ledger is for one in this process. */
export function mountPort(app: App): void {
  const leaseBody = { schema: z.strictObject({ lease }), example: { lease: LEASE } }

  mountJson(
    app,
    {
      id: 'putProgress',
      method: 'post',
      path: '/v1/progress',
      summary: 'Report the text so far of running steps; it is shown, and not stored',
      scope: 'write',
      body: {
        schema: z.strictObject({ notes: z.array(note).max(500) }),
        example: {
          notes: [
            {
              runId: 'session-7',
              stepId: 'thinking#1',
              attempt: 1,
              stepType: 'thinking',
              version: 3,
              content: 'Let me see',
              at: '2026-11-15T07:17:00.123Z',
            },
          ],
        },
      },
      answer: done,
    },
    async ({ ledger }, { notes }) => {
      await ledger.progress.put(notes)
      return { ok: true }
    },
  )
  mountJson(
    app,
    {
      id: 'clearProgress',
      method: 'post',
      path: '/v1/progress/clear',
      summary: 'Drop the progress of a step that has ended',
      scope: 'write',
      body: {
        schema: z.strictObject({ runId: id, stepId }),
        example: { runId: 'session-7', stepId: 'thinking#1' },
      },
      answer: done,
    },
    async ({ ledger }, { runId, stepId: step }) => {
      await ledger.progress.clear(runId, step)
      return { ok: true }
    },
  )
  mountJson(
    app,
    {
      id: 'takeLease',
      method: 'post',
      path: '/v1/leases',
      summary: 'Acquire the lease of a session and of its stream',
      scope: 'write',
      body: {
        schema: z.strictObject({
          sessionId: id,
          streamId: id,
          supersedes: id.nullable(),
          triggerMessageId: id.nullish(),
        }),
        example: SESSION,
      },
      answer: { description: 'the lease, and the state of the session', schema: taken },
    },
    // The agent lives on when this server dies, and may reach the ledger through another one.
    ({ ledger }, request) => takeSession(ledger, request, { owner: `remote-${randomUUID()}` }),
  )
  for (const [act, summary] of [
    ['renew', 'Tell that the owner of a lease lives'],
    ['release', 'Give a lease back'],
  ] as const)
    mountJson(
      app,
      {
        id: `${act}Lease`,
        method: 'post',
        path: `/v1/leases/${act}`,
        summary,
        scope: 'write',
        body: leaseBody,
        answer: done,
      },
      async (call, body) => {
        await call.ledger.leases[act](ownLease(call, body.lease))
        return { ok: true }
      },
    )
  mountJson(
    app,
    {
      id: 'findStops',
      method: 'post',
      path: '/v1/leases/stops',
      summary: 'Which of these sessions have a stop request',
      scope: 'write',
      body: {
        schema: z.strictObject({ sessionIds: z.array(id).max(1000) }),
        example: { sessionIds: ['session-7'] },
      },
      answer: {
        description: 'those sessions, with reason and requester',
        schema: z.object({
          stops: z.array(
            z.object({ sessionId: z.string(), reason: z.string().nullable(), by: z.string().nullable() }),
          ),
        }),
      },
    },
    async ({ ledger }, { sessionIds }) => ({ stops: await findStops(ledger, sessionIds) }),
  )
}

/** Leases know all workspaces, and this caller only one. */
function ownLease({ workspace }: Call, given: Lease): Lease {
  if (given.workspace === workspace) return given
  throw new ClewError(
    'not_found',
    `There is no such lease of run ${given.runId} in this workspace`,
    'Use the lease as it was given, in its own workspace.',
    { runId: given.runId },
  )
}
