import type { JsonValue } from '../json.ts'
import type { Ledger } from '../ledger.ts'

/** Fields of the end of a step that was cut off: what it had streamed, or nothing. */
export interface PartialFields {
  readonly partial?: true
  readonly output?: JsonValue
}

export type PartialOutputs = (step: { readonly stepId: string; readonly attempt: number }) => PartialFields

const partialOf = (output: JsonValue | undefined): PartialFields =>
  output === undefined || output === '' ? {} : { partial: true, output }

/** Output that the steps of a run had streamed, from their progress: all that is left of them if their process died. */
export async function readPartialOutputs(
  ledger: Pick<Ledger, 'progress'>,
  runId: string,
): Promise<PartialOutputs> {
  const { notes } = await ledger.progress.read({ runId })
  const outputs = new Map(notes.map(({ stepId, attempt, content }) => [`${attempt} ${stepId}`, content]))
  return ({ stepId, attempt }) => partialOf(outputs.get(`${attempt} ${stepId}`))
}

/** The same of text that a step of this process has streamed: as far as no secret can begin in it. */
export const partialText = ({ redactor }: Pick<Ledger, 'redactor'>, text: string): PartialFields =>
  partialOf(redactor.stream().push(text))
