import { expect } from 'vitest'
import type { Ledger } from '@clew/ledger'
import { agent, type Run, type RunResult, type TapeOptions } from '@clew/runtime'

export interface Closable {
  close(): Promise<void>
}

export interface Lives<T> {
  readonly live: T
  readonly resumed: T
  readonly runId: string
}

/** Runs the code up to a question, then again from the record alone, with the server gone. */
export async function liveTwice<T>(
  ledger: Ledger,
  server: Closable,
  code: (run: Run) => Promise<T>,
  recordFetch: true | TapeOptions = true,
): Promise<Lives<T>> {
  const came: T[] = []
  const asking = agent(
    'asking',
    async (run) => {
      came.push(await code(run))
      await run.interrupt('go on?')
      return came.length
    },
    { recordFetch },
  )
  const paused = await asking.start(ledger, null)
  expect(said(paused)).toEqual(['paused', undefined])
  await server.close()
  const ended = await asking.resume(ledger, paused.runId, { answer: 'yes' })
  expect(said(ended)).toEqual(['completed', undefined])
  const [live, resumed] = came as [T, T]
  return { live, resumed, runId: paused.runId }
}

export const said = ({ status, error }: RunResult): unknown[] => [status, error?.message]

export async function chunksOf(response: Response): Promise<string[]> {
  const chunks: string[] = []
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
    chunks.push(decoder.decode(chunk, { stream: true }))
  return chunks
}

/** What was thrown, as a library would look at it. */
export async function thrownBy(work: () => Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await work()
  } catch (error) {
    const { name, message, cause } = error as Error
    const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined
    return {
      name,
      message,
      code,
      isTypeError: error instanceof TypeError,
      isAbort: error instanceof DOMException,
    }
  }
  return { name: 'nothing' }
}
