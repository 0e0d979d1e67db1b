import { z } from 'zod'

const text = z.string()
const textOrNull = text.nullable()
const whole = z.int()
const content = z.unknown().describe('text to show, or data; never JSON inside a string')
const runError = z.object({ name: textOrNull, code: textOrNull, message: textOrNull }).nullable()
const persona = z.object({ id: text, name: text, avatarUrl: textOrNull.optional() }).nullable()

/** Ids come from clients: long enough for any, short enough for a room's name. */
export const id = z.string().min(1).max(512)

export const author = z.object({
  type: z.enum(['user', 'persona', 'system']),
  id,
  name: z.string().max(200).nullable(),
})

const source = z.object({
  type: text,
  title: textOrNull,
  url: textOrNull,
  domain: textOrNull,
  snippet: textOrNull,
})

/** Source of an event. Missing fields are null or follow from the address. */
export const givenSource = z.strictObject({
  type: z.string().max(100),
  title: z.string().max(1000).nullable().optional(),
  url: z.string().max(8000).nullable().optional(),
  domain: z.string().max(500).nullable().optional(),
  snippet: z.string().max(8000).nullable().optional(),
})

const message = z.object({
  messageId: text,
  streamId: text,
  author,
  content,
  sessionId: textOrNull,
  sources: z.array(source),
  createdAt: text,
  editedAt: textOrNull,
  deletedAt: textOrNull,
  position: whole,
  seq: whole,
  threadStreamId: textOrNull,
  replyCount: whole,
  lastReplyAt: textOrNull,
})

const session = z.object({
  sessionId: text,
  workspaceId: text,
  streamId: text,
  status: text,
  triggerMessageId: textOrNull,
  supersedes: textOrNull,
  persona,
  currentStepType: textOrNull,
  stepCount: whole,
  generation: whole,
  seq: whole,
  position: whole,
  startedAt: text,
  endedAt: textOrNull,
  durationMs: z.number().nullable(),
  error: runError,
  checkpoint: z.unknown(),
  replay: z.unknown(),
})

const step = z.object({
  stepId: text,
  attempt: whole,
  stepNumber: whole,
  stepType: text,
  name: text,
  parentStepId: textOrNull,
  status: text,
  content,
  isContentLeftOut: z.boolean(),
  sources: z.array(source),
  messageId: textOrNull,
  error: runError,
  startedSeq: whole,
  endedSeq: whole.nullable(),
  startedAt: text,
  completedAt: textOrNull,
  durationMs: z.number().nullable(),
  progress: z.object({ version: whole, content }).nullable(),
})

export const sessionDetail = z.object({
  session,
  steps: z.array(step),
  persona,
  relatedSessions: z.array(session),
  previousCursor: textOrNull,
})

export const stream = z.object({
  streamId: text,
  workspaceId: text,
  title: textOrNull,
  parentStreamId: textOrNull,
  parentMessageId: textOrNull,
  createdAt: text,
  updatedAt: text,
})

export const streamList = z.object({ streams: z.array(stream), nextCursor: textOrNull })

export const streamPage = z.object({
  stream,
  messages: z.array(message),
  sessions: z.array(session),
  activities: z.array(
    z.object({
      messageId: text,
      sessionId: text,
      streamId: text,
      persona,
      stepType: textOrNull,
      seq: whole,
      generation: whole,
    }),
  ),
  progress: z.array(
    z.object({
      sessionId: text,
      stepId: text,
      attempt: whole,
      stepType: text,
      version: whole,
      content,
      at: text,
    }),
  ),
  previousCursor: textOrNull,
})
