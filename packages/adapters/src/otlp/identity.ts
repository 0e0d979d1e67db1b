import type { JsonObject } from '@clew/ledger'
import type { SpanAttributes } from './span-attributes.ts'
import type { Source } from './source.ts'

/** Without `thread.id`, which is a thread of the operating system. */
const THREAD = [
  'gen_ai.conversation.id',
  'session.id',
  'langfuse.session.id',
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'traceloop.association.properties.conversation_id',
  'langsmith.metadata.thread_id',
  'langsmith.metadata.session_id',
  'langsmith.metadata.conversation_id',
  'langsmith.trace.session_id',
  'ai.telemetry.metadata.threadId',
  'ai.telemetry.metadata.sessionId',
  'ai.telemetry.metadata.conversationId',
  'ai.telemetry.metadata.chatId',
  'mlflow.trace.session',
  'gcp.vertex.agent.session_id',
] as const

const USER = [
  'user.id',
  'enduser.id',
  'langfuse.user.id',
  'traceloop.association.properties.user_id',
  'ai.telemetry.metadata.userId',
  'langsmith.metadata.user_id',
  'mlflow.trace.user',
] as const

const AGENT = [
  'gen_ai.agent.name',
  'agent.name',
  'agent_name',
  'ai.telemetry.functionId',
  'gen_ai.workflow.name',
  'traceloop.workflow.name',
  'langfuse.trace.name',
] as const

/** Agent, version, thread and subjects. A run takes them from its first event, which may be that of any span. */
export function readIdentity(facts: SpanAttributes, { service, serviceVersion }: Source): JsonObject {
  const agent = facts.text(...AGENT) ?? service
  const version = facts.text('gen_ai.agent.version') ?? serviceVersion
  const thread = facts.text(...THREAD)
  const user = facts.text(...USER)
  return {
    ...(agent !== undefined && { agent }),
    ...(version !== undefined && { agentVersion: version }),
    ...(thread !== undefined && { threadId: thread }),
    ...(user !== undefined && { subjects: [user] }),
  }
}
