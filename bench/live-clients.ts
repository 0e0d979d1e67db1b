import { sessionRoom } from '@clew/trace'
import { ROOMS, sessionOf, SOCKETS } from './live-load.ts'
import { openThinClient } from './live-socket.ts'

/** A thousand pages in another process. Counts what they hear, and how long after it was said. */
const [url = ''] = process.argv.slice(2)
const MAX_DELAY_MS = 10_000
let delays = new Uint32Array(MAX_DELAY_MS + 1)
let heard = 0
/** Ends of steps and of sessions, since the beginning. */
let ends = 0
let completed = 0

/** When each kind of message was said stands in another field. */
const SAID: Readonly<Record<string, string>> = {
  'agent_session:step:started': '"startedAt":"',
  'agent_session:step:progress': '"at":"',
  'agent_session:step:completed': '"completedAt":"',
}

function hear(packet: string): void {
  const name = packet.slice(4, packet.indexOf('"', 4))
  if (name === 'agent_session:completed') completed++
  if (name === 'agent_session:step:completed') ends++
  const field = SAID[name]
  if (field === undefined) return
  const at = packet.indexOf(field) + field.length
  const delay = Date.now() - Date.parse(packet.slice(at, at + 24))
  const bounded = Math.min(MAX_DELAY_MS, Math.max(0, delay))
  delays[bounded] = (delays[bounded] as number) + 1
  heard++
}

function percentile(share: number): number {
  let left = heard * share
  return delays.findIndex((found) => (left -= found) <= 0)
}

process.on('message', (message) => {
  if (message !== 'heard') return
  process.send?.({ heard, completed, ends, p50: percentile(0.5), p99: percentile(0.99) })
  heard = 0
  delays = new Uint32Array(MAX_DELAY_MS + 1)
})
for (let i = 0; i < SOCKETS; i++)
  await openThinClient(url, sessionRoom('default', sessionOf(i % ROOMS)), hear)
process.send?.({ joined: SOCKETS })
