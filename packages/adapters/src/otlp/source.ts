import type { JsonObject } from '@clew/ledger'
import { toJsonObject } from './span-attributes.ts'
import { RANK, type RunSink, sha256 } from './sink.ts'
import type { OtlpResource, OtlpScope } from './structure.ts'

/** The program and the instrumentation of spans or records: recorded once in a run, referred to by all events. */
export interface Source {
  readonly record: JsonObject
  readonly digest: string
  readonly service: string | undefined
  readonly serviceVersion: string | undefined
  /** The instrumentation wraps the client of a model provider, so it does not see tool calls. */
  readonly isModelClient: boolean
}

/** Instrumentations of makers' own clients, by OpenTelemetry, OpenInference and OpenLLMetry. */
const MODEL_CLIENT =
  /instrumentation[-._](?:openai(?:[-_]v2)?|anthropic|bedrock|cohere|google[-_]gen(?:erative)?[-_]?ai|vertex[-_]?ai|mistral(?:ai)?|groq|ollama|together|replicate|watsonx|litellm|portkey)(?:[-._]v\d+)?$/

export function readSource(
  resource: OtlpResource,
  scope: OtlpScope,
  schemaUrls: readonly [string, string],
): Source {
  const { attributes } = resource
  const text = (key: string): string | undefined => {
    const value = attributes[key]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const service = text('service.name')
  const known = service?.startsWith('unknown_service') ? undefined : service
  const record: JsonObject = {
    ...(known !== undefined && { agent: known }),
    resource: {
      attributes: toJsonObject(attributes),
      ...counted(resource.droppedAttributesCount),
      ...said('schemaUrl', schemaUrls[0]),
    },
    scope: {
      ...said('name', scope.name),
      ...said('version', scope.version),
      ...(Object.keys(scope.attributes).length > 0 && { attributes: toJsonObject(scope.attributes) }),
      ...counted(scope.droppedAttributesCount),
      ...said('schemaUrl', schemaUrls[1]),
    },
  }
  return {
    record,
    digest: sha256(JSON.stringify(record)).slice(0, 32),
    service: known,
    serviceVersion: text('service.version'),
    isModelClient: MODEL_CLIENT.test(scope.name),
  }
}

const said = (key: string, text: string): JsonObject => (text === '' ? {} : { [key]: text })
const counted = (count: number): JsonObject => (count === 0 ? {} : { droppedAttributesCount: count })

/**
 * Answers with the id of the event that tells of it: at the first time at which anything came from there. `isFirst` puts
 * it before all else, where nothing else would name the agent.
 */
export function addSource(sink: RunSink, { record, digest }: Source, time: bigint, isFirst = false): string {
  const told = sink.once.get(digest)
  if (told && told.time <= time) return told.eventId
  const eventId = sink.add({
    type: 'system.otel.source',
    key: ['source', digest],
    time,
    ...(isFirst && { place: 0n }),
    rank: RANK.source,
    origin: 'system',
    cause: null,
    payload: record,
  })
  sink.once.set(digest, { eventId, time })
  return eventId
}
