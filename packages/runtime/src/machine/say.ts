import { assertPayload, ClewError, isOwnEventType, parseMessage, type Payload } from '@clew/ledger'
import type { Message } from '../graph/message.ts'
import type { Run } from '../run/run.ts'
import type { Statement } from './statements.ts'

type Saying = Pick<Run, 'say' | 'handoff' | 'decide' | 'output' | 'tag' | 'record'>

/**
 * `state` records a statement in the scope of the code; `assertMay` refuses a call that is made from elsewhere, and
 * `copyOf` what no ledger can keep: nobody waits for the event, so later there is nobody to be told.
 */
export function createSaying(
  stepId: string | null,
  state: (statement: Statement) => string,
  assertMay: (method: string) => void,
  copyOf: (payload: Payload) => Payload,
): Saying {
  const inStep = stepId === null ? {} : { stepId }

  function make(method: string, eventType: string, given: Record<string, unknown>): string {
    assertMay(method)
    const payload = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    if ('clock' in payload) throw ownField('clock', method)
    const said = copyOf({ ...payload, ...inStep })
    assertPayload(eventType, said)
    return state({ eventType, payload: said })
  }

  return {
    say(message) {
      const given: Message | (Partial<Message> & Pick<Message, 'content'>) =
        typeof message === 'string' ? { content: message } : message
      const said = { role: 'assistant', ...given }
      if (!parseMessage(said)) throw noMessage()
      return make('say', 'execution.message', said)
    },
    handoff: (to, { reason, ...detail } = {}) =>
      make('handoff', 'execution.handoff', { ...detail, to, reason }),
    decide: (choice, why) => make('decide', 'execution.decision', { choice, reason: why }),
    output: (value) => make('output', 'execution.structured_output', { value }),
    tag(tags) {
      const entries = Object.entries(tags)
      const set = entries.filter(([, value]) => value !== null)
      const unset = entries.flatMap(([name, value]) => (value === null ? [name] : []))
      return make('tag', 'system.tagged', {
        set: set.length > 0 ? Object.fromEntries(set) : undefined,
        unset: unset.length > 0 ? unset : undefined,
      })
    },
    record(eventType, payload) {
      checkType(eventType)
      return make('record', eventType, { ...payload })
    },
  }
}

/** Types by which the run itself is recorded: folds rely on who wrote them. */
const OF_THE_RUN = /^(?:system\.|ui\.input_|execution\.(?:step_|memory_|checkpoint$|completed$))/

function checkType(eventType: string): void {
  if (!/^(?:execution|system|ui|integration)\.[^\p{Cc}\s]+$/u.test(eventType))
    throw new ClewError(
      'bad_option',
      `${JSON.stringify(eventType)} is no event type`,
      'Give a name under execution., ui. or integration., such as execution.note.',
      { eventType },
    )
  if (isOwnEventType(eventType) && OF_THE_RUN.test(eventType))
    throw new ClewError(
      'bad_option',
      `Events of the type ${eventType} are recorded by the run itself`,
      'Use a type of your own, such as execution.note.',
      { eventType },
    )
}

const ownField = (field: string, method: string): ClewError =>
  new ClewError(
    'bad_option',
    `The field ${field} of run.${method}() is one that the run uses itself`,
    'Give it another name.',
    { field },
  )

const noMessage = (): ClewError =>
  new ClewError(
    'bad_option',
    'run.say() was given no message',
    'Give a text, or { role, content } with a role of user, assistant, system or tool.',
  )
