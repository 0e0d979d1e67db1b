import { ClewError, createCodecs } from '@clew/ledger'
import type { App } from './create-app.ts'
import { describeOperation } from './describe-operation.ts'
import { jsonAnswer } from './json-answer.ts'
import { pageAnswer } from './page-answer.ts'
import { LOCAL, may } from './principal.ts'
import { readInput } from './operation-input.ts'
import type { Answer, Call } from './route.ts'
import type { RestPlace, ServedOperation } from './served-operation.ts'
import type { ServerParts } from './server-parts.ts'

/** One route per place of an operation; none is written by hand (A1). */
export function mountOperations(app: App, parts: ServerParts): void {
  for (const operation of parts.operations) {
    const { rest } = operation
    if (!rest || rest.isLive === true) continue
    for (const path of rest.also === undefined ? [rest.path] : [rest.path, rest.also])
      app.route(describeOperation(operation, rest, path), answer(operation, rest, parts))
  }
}

/** Control works with rich values, which travel as their tags. */
const codecs = createCodecs()

function answer(operation: ServedOperation, rest: RestPlace, parts: ServerParts): Answer {
  return async (call) => {
    const input = signed(operation, await readInput(operation, rest, call), call)
    await assertRun(call)
    const control = may(call.principal, 'control') ? parts.controlOf(call.workspace) : undefined
    const context = { signal: call.signal, control }
    if (operation.kind === 'stream') return pageAnswer(call, operation, rest, input, context)
    const output = await operation.run(call.ledger, input, context)
    return jsonAnswer(call, operation.scope === 'control' ? codecs.encode(output) : output)
  }
}

/** Actions on a run record their actor: the given name, else the token. */
function signed({ input }: ServedOperation, given: Record<string, unknown>, { principal }: Call) {
  const isAnonymous =
    principal.id === LOCAL.id || !Object.hasOwn(input.shape, 'by') || given['by'] !== undefined
  return isAnonymous ? given : { ...given, by: principal.name }
}

/** A run that is not there has no steps either: an empty list would be taken for an answer. */
async function assertRun({ params, ledger }: Call): Promise<void> {
  const { runId } = params
  if (runId === undefined || (await ledger.getRun(runId))) return
  const shown = runId.slice(0, 200)
  throw new ClewError(
    'not_found',
    `There is no run ${shown} in workspace ${ledger.workspace}`,
    'List the runs: /v1/runs.',
    { runId: shown },
  )
}
