import { useClient } from '@clew/react'
import { useEffect, useState } from 'react'
import { parseMetrics, totalOf } from './parse-metrics.ts'

export interface Sample {
  readonly atMs: number
  readonly eventsPerSecond: number
  readonly requestsPerSecond: number
  readonly lag: number
  readonly waiting: number
  readonly open: number
}

const EVERY_MS = 2000
const MAX_SAMPLES = 150

/** Samples of the server's metrics, taken at a rate the eye can follow; `appended` counts received events. */
export function useSamples(appended: { current: number }): {
  readonly samples: readonly Sample[]
  readonly error: unknown
} {
  const client = useClient()
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    const ended = new AbortController()
    let before: { atMs: number; requests: number } | undefined
    async function look(): Promise<void> {
      const response = await client.open('/metrics', {}, {}, ended.signal)
      const metrics = parseMetrics(await response.text())
      const atMs = Date.now()
      const requests = totalOf(metrics, 'clew_http_requests_total')
      const seconds = before ? (atMs - before.atMs) / 1000 : 0
      const sample = {
        atMs,
        eventsPerSecond: seconds > 0 ? appended.current / seconds : 0,
        requestsPerSecond: before && seconds > 0 ? (requests - before.requests) / seconds : 0,
        lag: totalOf(metrics, 'clew_follower_lag_events'),
        waiting: totalOf(metrics, 'clew_append_waiting'),
        open: totalOf(metrics, 'clew_streams') + totalOf(metrics, 'clew_sockets'),
      }
      appended.current = 0
      before = { atMs, requests }
      setError(null)
      setSamples((all) => [...all, sample].slice(-MAX_SAMPLES))
    }
    const tick = (): void => {
      look().catch((failure: unknown) => {
        if (!ended.signal.aborted) setError(failure)
      })
    }
    tick()
    const timer = setInterval(tick, EVERY_MS)
    return () => {
      ended.abort()
      clearInterval(timer)
    }
  }, [client, appended])
  return { samples, error }
}
