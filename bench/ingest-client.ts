import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

/** What posts bodies to a server, in a thread of its own: so many at once, over connections that are kept. */
export interface IngestLoad {
  readonly url: string
  readonly type: string
  readonly bodies: readonly Uint8Array[]
  readonly atOnce: number
}

const { url, type, bodies, atOnce } = workerData as IngestLoad
const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

function post(body: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': body.byteLength }
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`answered with ${answer.statusCode}`)),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const began = performance.now()
let next = 0
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let body = bodies[next++]; body; body = bodies[next++]) await post(body)
  }),
)
agent.destroy()
parentPort?.postMessage((performance.now() - began) / 1000, [])
