import { formatStepId, type Payload } from '@clew/ledger'
import { plainText, refuse } from '../foreign.ts'
import { type Native, needText, others, placeOf } from './native.ts'
import type { OpenStep, MapperState } from './mapper-state.ts'

export function openStep(
  native: Native,
  name: string,
  kind: string,
  taken: readonly string[],
  keepStep: (step: OpenStep) => void,
): void {
  const { scene, event } = native
  const around = placeOf(native)['stepId']
  const parentStepId = typeof around === 'string' ? around : null
  const stepId = formatStepId({ parentStepId, name, ordinal: scene.nextOrdinal(`${parentStepId} ${name}`) })
  const subagent = plainText(event['subagentRunId'])
  const asked = plainText(event['parentToolCallId'])
  const cause = scene.tools.find(asked, undefined)?.eventId
  const eventId = scene.add({
    type: 'execution.step_started',
    key: ['step', stepId],
    origin: 'agent',
    ...(asked !== undefined && cause !== undefined && { cause }),
    payload: {
      stepId,
      name,
      kind,
      parentStepId,
      ...(subagent !== undefined && { subagentRunId: subagent }),
      ...others(event, 'subagentRunId', 'name', ...taken),
    },
  })
  keepStep({ stepId, eventId, name })
}

export function finishStep(native: Native): void {
  const { scene, event } = native
  const name = needText(event, 'stepName')
  const at = scene.steps.findLastIndex((step) => step.name === name)
  const [step] = at < 0 ? [] : scene.steps.splice(at, 1)
  if (!step) return refuse('stepName', name, 'the name of a step that was started before')
  endStep(native, step, 'execution.step_completed', others(event, 'stepName'))
}

function endStep({ scene }: Native, { stepId, eventId }: OpenStep, type: string, payload: Payload): void {
  scene.add({
    type,
    key: ['step', stepId, 'end'],
    origin: 'agent',
    cause: eventId,
    payload: { stepId, ...payload },
  })
}

export function finishSubagent(native: Native, failed: boolean): void {
  const { scene, event } = native
  const id = needText(event, 'subagentRunId')
  const step = scene.subagents.get(id)
  if (!step) return refuse('subagentRunId', id, 'the id of a subagent that was started before')
  scene.subagents.delete(id)
  const more = others(event, 'subagentRunId', 'name', 'message', 'code', 'result')
  if (!failed) {
    const output = event['result']
    return endStep(native, step, 'execution.step_completed', {
      ...(output !== undefined && { output }),
      ...more,
    })
  }
  const code = plainText(event['code'])
  const error = {
    message: plainText(event['message']) ?? 'the subagent failed',
    ...(code !== undefined && { code }),
  }
  endStep(native, step, 'execution.step_failed', { error, ...more })
}

/** Closes steps that were not ended. */
export function interruptSteps(scene: MapperState, reason: string): void {
  for (const { stepId, eventId } of [...scene.subagents.values(), ...scene.steps.toReversed()])
    scene.draft.add({
      type: 'execution.step_interrupted',
      key: ['step', stepId, 'end'],
      origin: 'system',
      cause: eventId,
      payload: { stepId, reason },
    })
  scene.subagents.clear()
  scene.steps.length = 0
}
