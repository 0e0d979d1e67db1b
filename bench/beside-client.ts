import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

/** A client that reads beside others, in a thread of its own, until it is told to stop; posts its times in ms. */
const { url } = workerData as { readonly url: string }
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const times: number[] = []
let isOver = false
parentPort?.once('message', () => (isOver = true))

const read = (): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => {
      answer.resume()
      answer.on('end', resolve)
    }).on('error', reject)
  })

while (!isOver) {
  const began = performance.now()
  await read()
  times.push(performance.now() - began)
  await new Promise((resolve) => setTimeout(resolve, 5))
}
agent.destroy()
parentPort?.postMessage(times, [])
