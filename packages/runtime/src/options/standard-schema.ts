import type { JsonValue } from '@clew/ledger'
import { StepError } from '../run/run.ts'

/** Common interface of zod, valibot, arktype and others (standardschema.dev), used to check and type an answer. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
    /** JSON Schema, if the library exports it; a wrong answer is then refused before it is recorded. */
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> }
      | undefined
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

export type AnswerOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']

/** The type of what fits a JSON Schema, as far as its most used words say. */
export type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: 'string' }
      ? string
      : Schema extends { readonly type: 'number' | 'integer' }
        ? number
        : Schema extends { readonly type: 'boolean' }
          ? boolean
          : Schema extends { readonly type: 'null' }
            ? null
            : Schema extends { readonly type: 'array'; readonly items: infer Items }
              ? FromJsonSchema<Items>[]
              : Schema extends { readonly type: 'object'; readonly properties: infer Properties }
                ? FromProperties<
                    Properties,
                    Schema extends { readonly required: readonly (infer Name)[] } ? Name : never
                  >
                : JsonValue

type FromProperties<Properties, Required> = {
  [Name in keyof Properties as Name extends Required ? Name : never]: FromJsonSchema<Properties[Name]>
} & { [Name in keyof Properties as Name extends Required ? never : Name]?: FromJsonSchema<Properties[Name]> }

export const isStandardSchema = (schema: unknown): schema is StandardSchema =>
  (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema

/** The JSON Schema that is recorded with a question; undefined if the library does not export it. */
export const toJsonSchema = (schema: StandardSchema): JsonValue | undefined =>
  schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) as JsonValue | undefined

/** The answer as the schema makes it; one that does not fit fails the call that asked. */
export async function parseAnswer(
  schema: StandardSchema,
  answer: unknown,
  stepId: string | null,
): Promise<unknown> {
  const result = await schema['~standard'].validate(answer)
  if (!result.issues) return result.value
  const message = `The answer does not fit its schema: ${result.issues[0]?.message ?? 'it is refused'}`
  throw new StepError({ code: 'bad_answer', message }, stepId)
}
