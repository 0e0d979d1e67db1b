import type { Redactor } from '@clew/ledger'
import { StepError } from '../run/run.ts'
import { type Arrival, type BodyEnd, type BodyRecord, toBodyRecord } from './body-record.ts'
import { toFetchError } from './fetch-error.ts'
import type { BodySink } from './give-response.ts'

export interface BodyReading {
  /** Stream that the code reads; without one it gets the whole body at the end. */
  readonly sink?: BodySink | undefined
  /** The event that woke the code last. */
  readonly cause: () => string | null
  /** Aborts when the code that made the request has ended or no longer waits for it. */
  readonly left: AbortSignal
  readonly mostBytes: number
  readonly redactor: Redactor
}

/** Passes the chunks of a response on as they arrive, and returns their times at the end. */
export async function readBody(response: Response, reading: BodyReading): Promise<BodyRecord> {
  const { sink, cause, left, mostBytes, redactor } = reading
  const startedAt = performance.timeOrigin + performance.now()
  const began = { startedAt, cause: cause(), type: response.headers.get('content-type') ?? '' }
  const arrivals: Arrival[] = []
  const end: BodyEnd | undefined = await gather()
  return toBodyRecord(arrivals, { ...began, end: end ?? {} }, redactor)

  async function gather(): Promise<BodyEnd | undefined> {
    const reader = response.body?.getReader()
    if (!reader) return undefined
    let end: BodyEnd | undefined
    const stop = (how: BodyEnd): void => {
      end ??= how
      // The body has ended either way, so an error of the cancellation does not matter.
      reader.cancel().catch(() => {})
    }
    const onLeft = (): void => stop({ ended: 'left' })
    left.addEventListener('abort', onLeft)
    if (sink) sink.onCancel = () => stop({ ended: 'cancelled' })
    if (sink?.isCancelled) stop({ ended: 'cancelled' })
    else if (left.aborted) onLeft()
    try {
      for (let size = 0; ; ) {
        const { done, value } = await reader.read()
        if (done || end) break
        size += value.byteLength
        if (size > mostBytes) {
          stop({ ended: 'failed', error: tooLong(mostBytes) })
          break
        }
        const ms = Math.round((performance.timeOrigin + performance.now() - startedAt) * 1000) / 1000
        arrivals.push({ ms, bytes: value, after: cause() })
        sink?.push(value)
      }
    } catch (error) {
      end ??= { ended: 'failed', error: toFetchError(error) }
    } finally {
      left.removeEventListener('abort', onLeft)
    }
    return end
  }
}

const tooLong = (mostBytes: number): StepError =>
  new StepError(
    {
      name: 'TypeError',
      code: 'too_large',
      message: `terminated: the response has more than ${mostBytes} bytes; fetch it in an effect that gives back what is needed of it`,
    },
    null,
  )
