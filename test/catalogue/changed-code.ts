import type { JsonValue } from '@clew/ledger'
import type { Agent, EffectFn, Run } from './agent.ts'
import { type Outcome, outcomeOf, type RunRecord, stepIdOf } from './record.ts'

/** What somebody did to the code after the run was recorded. */
export const CHANGES = ['renamed', 'input', 'removed', 'added', 'swapped', 'output'] as const
export type Change = (typeof CHANGES)[number]

/** True if the change at the n-th call cannot leave the run as it was. */
export function isVisible(record: RunRecord, change: Change, at: number): boolean {
  const [here, next] = [record.calls[at], record.calls[at + 1]]
  if (!here) return false
  if (change === 'swapped') {
    if (!next || here.causationId !== next.causationId) return false
    const same = (field: string): boolean => here.payload[field] === next.payload[field]
    return !(same('name') && same('parentStepId') && same('inputDigest') && same('kind'))
  }
  if (change === 'output') {
    const outcome = outcomeAt(record, at)
    return here.payload['kind'] === 'compute' && outcome !== undefined && 'output' in outcome
  }
  return true
}

function outcomeAt(record: RunRecord, at: number): Outcome | undefined {
  const call = record.calls[at]
  const end = call && record.attempts.get(stepIdOf(call))?.at(-1)?.end
  return end && /_(completed|failed)$/.test(end.eventType) ? outcomeOf(end) : undefined
}

/** The same agent with one change, made at the n-th call that it makes, wherever in the code that is. */
export function changeCode(agent: Agent, record: RunRecord, change: Change, at: number): Agent {
  let calls = 0
  let held: (() => void) | undefined

  function changed(run: Run, name: string, input: JsonValue, make: Make): Promise<JsonValue> {
    const now = calls++
    if (change === 'swapped' && now === at)
      return new Promise((resolve, reject) => {
        held = () => void make(name, input).then(resolve, reject)
      })
    if (change === 'swapped' && now === at + 1) {
      const made = make(name, input)
      held?.()
      return made
    }
    if (now !== at) return make(name, input)
    switch (change) {
      case 'renamed':
        return make(`${name}x`, input)
      case 'input':
        return make(name, { changed: input })
      case 'added':
        void run.step('added', null, async () => null)
        return make(name, input)
      case 'removed': {
        const outcome = outcomeAt(record, at)
        if (!outcome) return new Promise(() => {})
        return 'output' in outcome ? Promise.resolve(outcome.output) : Promise.reject(outcome.error)
      }
      default:
        return make(name, input, true)
    }
  }

  function wrap(run: Run): Run {
    const body =
      (fn: Agent['fn'], spoilt = false): Agent['fn'] =>
      async (inner, input) => {
        const output = await fn(wrap(inner), input)
        return spoilt ? { spoilt: output } : output
      }
    return {
      ...run,
      step: (name, input, fn, options) =>
        changed(run, name, input, (n, i, spoilt) => run.step(n, i, body(fn, spoilt), options)),
      effect: (name, input, fn: EffectFn, options) =>
        changed(run, name, input, (n, i) => run.effect(n, i, fn, options)),
      interrupt: (question) =>
        changed(run, 'interrupt', question, (n, i) =>
          n === 'interrupt' ? run.interrupt(i) : run.step(n, i, async () => i),
        ),
      child: (name, child, input) => changed(run, name, input, (n, i) => run.child(n, child, i)),
      handoff: (to, input, reason) =>
        changed(run, to.name, input, (name, i) => run.handoff({ name, fn: body(to.fn) }, i, reason)),
    }
  }

  return { name: agent.name, fn: (run, input) => agent.fn(wrap(run), input) }
}

type Make = (name: string, input: JsonValue, spoilt?: boolean) => Promise<JsonValue>
