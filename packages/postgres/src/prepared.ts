import type { ClientBase, Connection as Wire } from 'pg'
import { putBegun, putBytes, putInt16, putInt32, putMessage, putName, written } from './message-bytes.ts'

/** A statement that is prepared once per connection, and how each message begins that binds parameters to it. */
export interface Shape {
  readonly name: string
  readonly text: string
  readonly begin: Buffer
}

/** With its parameters, as the message that the server reads. */
export interface Prepared {
  readonly shape: Shape
  readonly message: Buffer
}

/** Texts of a row's columns. */
export type Answer = readonly (string | null)[]

/** All parameters in binary form. */
export function shapeOf(name: string, text: string, parameters: number): Shape {
  const begin = written(() =>
    putMessage('B', () => {
      putName('')
      putName(name)
      putInt16(1)
      putInt16(1)
      putInt16(parameters)
    }),
  )
  return { name, text, begin }
}

const EXECUTE_AND_SYNC = written(() => {
  putMessage('E', () => {
    putName('')
    putInt32(0)
  })
  putMessage('S', () => {})
})

/** Bind, Execute and Sync: the parameters as `put` writes them, all of the answer as text. */
export function bindMessage({ begin }: Shape, put: () => void): Buffer {
  return written(() => {
    putBegun(begin, () => {
      put()
      putInt16(0)
    })
    putBytes(EXECUTE_AND_SYNC)
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
  { shape: { name, text }, message }: Prepared,
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
