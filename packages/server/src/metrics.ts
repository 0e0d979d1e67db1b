import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** All measured things, in a registry of this server alone. Labels never carry ids, names or values of users (P3). */
export interface Metrics {
  readonly registry: Registry
  readonly requests: Counter<'method' | 'route' | 'status'>
  readonly requestSeconds: Histogram<'method' | 'route'>
  readonly errors: Counter<'code'>
  readonly appended: Counter
  /** Appends that wait for their commit. */
  readonly waiting: Gauge
  /** Committed events that were not yet sent to listeners, in the workspace with the largest lag. */
  readonly followerLag: Gauge
  readonly sockets: Gauge
  readonly streams: Gauge
}

export function createMetrics(waiting: () => number): Metrics {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    requests: new Counter({
      name: 'clew_http_requests_total',
      help: 'Requests answered',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'clew_http_request_seconds',
      help: 'Time to the answer',
      labelNames: ['method', 'route'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    }),
    errors: new Counter({
      name: 'clew_errors_total',
      help: 'Requests refused or failed, by the code of the error',
      labelNames: ['code'],
      registers,
    }),
    appended: new Counter({
      name: 'clew_events_appended_total',
      help: 'Events that this server appended',
      registers,
    }),
    waiting: new Gauge({
      name: 'clew_append_waiting',
      help: 'Appends that wait for their commit',
      registers,
      collect() {
        this.set(waiting())
      },
    }),
    followerLag: new Gauge({
      name: 'clew_follower_lag_events',
      help: 'Committed events that were not yet sent to listeners, in the workspace with the largest lag',
      registers,
    }),
    sockets: new Gauge({ name: 'clew_sockets', help: 'Open sockets', registers }),
    streams: new Gauge({ name: 'clew_streams', help: 'Open streams of server-sent events', registers }),
  }
}
