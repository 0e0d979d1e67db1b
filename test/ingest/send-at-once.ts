import { once } from 'node:events'
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * A thread that sends requests, each over a connection that the server has accepted before. Posts `ready`, waits for
 * `state` 1, and sets it to 2 when all requests are on their way; ends when all are answered.
 */
export interface SendAtOnce {
  readonly port: number
  readonly requests: readonly string[]
  readonly state: SharedArrayBuffer
}

const { port, requests, state } = workerData as SendAtOnce
const sockets = await Promise.all(
  requests.map(async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await once(socket, 'data')
    return socket.resume()
  }),
)
parentPort?.postMessage('ready', [])
const flag = new Int32Array(state)
Atomics.wait(flag, 0, 0)
const closed = sockets.map((socket) => once(socket, 'close'))
await Promise.all(
  sockets.map((socket, nth) => new Promise((resolve) => socket.write(requests[nth] as string, resolve))),
)
Atomics.store(flag, 0, 2)
Atomics.notify(flag, 0)
await Promise.all(closed)
