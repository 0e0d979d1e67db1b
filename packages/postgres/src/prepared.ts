import type { ClientBase, Connection as Wire } from 'pg'
import { putInt16, putInt32, putMessage, putName, written } from './message-bytes.ts'

/** A statement that is prepared once per connection, and its parameters as the message that the server reads. */
export interface Prepared {
  readonly name: string
  readonly text: string
  readonly message: Buffer
}

/** Texts of a row's columns. */
export type Answer = readonly (string | null)[]

/** Bind, Execute and Sync: all parameters in binary form, all of the answer as text. */
export function bindMessage(name: string, parameters: number, put: () => void): Buffer {
  return written(() => {
    putMessage('B', () => {
      putName('')
      putName(name)
      putInt16(1)
      putInt16(1)
      putInt16(parameters)
      put()
      putInt16(0)
    })
    putMessage('E', () => {
      putName('')
      putInt32(0)
    })
    putMessage('S', () => {})
  })
}

/** What the driver keeps of a connection, beside what its types tell. */
interface Connection extends Wire {
  readonly parsedStatements: Record<string, string | undefined>
  readonly submittedNamedStatements: Record<string, string | undefined>
}

/**
 * Sends the statement through the driver's own queue, in one write. The driver's way would clone the parameters, copy
 * them twice, ask for a description of the answer and build objects from it: more than all the rest of a small append.
 * Resolves with the first row.
 */
export function sendPrepared(
  client: ClientBase,
  { name, text, message }: Prepared,
): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    let answer: Answer | undefined
    client.query({
      name,
      text,
      submit(wire: Wire) {
        const { stream, parsedStatements, submittedNamedStatements } = wire as Connection
        // Nothing can be sent any more: the driver is about to tell.
        if (!stream.writable) return
        if (parsedStatements[name] === undefined) {
          stream.cork()
          wire.parse({ name, text, types: [] }, true)
          submittedNamedStatements[name] = text
          stream.write(message)
          stream.uncork()
        } else stream.write(message)
      },
      handleDataRow: ({ fields }: { fields: Answer }) => void (answer ??= fields),
      handleRowDescription: () => {},
      handleCommandComplete: () => {},
      handleEmptyQuery: () => {},
      handlePortalSuspended: () => {},
      handleError: reject,
      handleReadyForQuery: () => resolve(answer),
    })
  })
}
