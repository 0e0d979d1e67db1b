import { ClewError, type ClewEvent, isOwn, type JsonObject, type JsonValue, type Ledger } from '@clew/ledger'
import { isObject, schemaFault } from '../options/schema-fault.ts'
import { isStandardSchema, type StandardSchema, toJsonSchema } from '../options/standard-schema.ts'
import { StepError } from '../run/run.ts'

/** JSON as a literal `as const` has it. */
type JsonLiteral =
  | string
  | number
  | boolean
  | null
  | readonly JsonLiteral[]
  | { readonly [name: string]: JsonLiteral }

/** Schema of a signal's payload: of zod, valibot, arktype, …, or a JSON Schema. */
export type SignalSchema = StandardSchema | { readonly [word: string]: JsonLiteral }
/** Schemas of the signals that an agent declares, by name. */
export type SignalSchemas = Readonly<Record<string, SignalSchema>>

/** What is recorded with the start of a run, so that those who send without the code are refused as well. */
export function recordedSchemas(schemas: SignalSchemas | undefined): { signals?: Record<string, JsonValue> } {
  const entries = Object.entries(schemas ?? {}).flatMap(([name, schema]): [string, JsonValue][] => {
    const json = isStandardSchema(schema) ? toJsonSchema(schema) : (schema as JsonObject)
    return json === undefined ? [] : [[name, json]]
  })
  return entries.length === 0 ? {} : { signals: Object.fromEntries(entries) }
}

/** Refuses a payload before it is recorded: by the schema of the agent where it is at hand, else by the recorded one. */
export async function assertSignalFits(
  ledger: Pick<Ledger, 'read'>,
  runId: string,
  { name, payload }: { readonly name: string; readonly payload: unknown },
  declared: SignalSchemas | undefined,
): Promise<void> {
  const schema = declared ? declared[name] : await readSchema(ledger, runId, name)
  const fault = schema === undefined ? undefined : await faultOf(schema, payload)
  if (fault === undefined) return
  throw new ClewError(
    'bad_signal',
    `The signal ${name} of run ${runId} does not fit: ${fault}`,
    'Send it again as its schema says; nothing was written.',
    { runId, name },
  )
}

/** The payload as the schema makes it. One that does not fit fails the call that receives it; it counts as received. */
export async function parseSignal(
  schema: SignalSchema,
  payload: unknown,
  { name, stepId }: { readonly name: string; readonly stepId: string | null },
): Promise<unknown> {
  const found = await check(schema, payload)
  if ('value' in found) return found.value
  const message = `The payload of signal ${name} does not fit its schema: ${found.fault}`
  throw new StepError({ code: 'bad_signal', message }, stepId)
}

async function faultOf(schema: SignalSchema, payload: unknown): Promise<string | undefined> {
  const found = await check(schema, payload)
  return 'fault' in found ? found.fault : undefined
}

async function check(
  schema: SignalSchema,
  payload: unknown,
): Promise<{ readonly value: unknown } | { readonly fault: string }> {
  if (!isStandardSchema(schema)) {
    const fault = schemaFault(schema, payload, 'payload')
    return fault === undefined ? { value: payload } : { fault }
  }
  const result = await schema['~standard'].validate(payload)
  return result.issues ? { fault: result.issues[0]?.message ?? 'it is refused' } : { value: result.value }
}

async function readSchema(
  ledger: Pick<Ledger, 'read'>,
  runId: string,
  name: string,
): Promise<SignalSchema | undefined> {
  const started = await readStart(ledger, runId)
  const schemas = started && isOwn(started, 'system.workflow_started') ? started.payload.signals : undefined
  const schema = schemas && Object.hasOwn(schemas, name) ? schemas[name] : undefined
  return isObject(schema) ? (schema as SignalSchema) : undefined
}

/** Undefined for a run that was submitted and not begun: what it is sent is judged when it is received. */
async function readStart(ledger: Pick<Ledger, 'read'>, runId: string): Promise<ClewEvent | undefined> {
  for await (const event of ledger.read(runId, { types: ['system.workflow_started'], limit: 1 })) return event
  return undefined
}
