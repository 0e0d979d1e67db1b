import { setTimeout as sleep } from 'node:timers/promises'
import { openLedger, TraceEmitter } from 'clew'
import { ROOMS, sessionOf, STEP_MS, TOKEN, TOKEN_MS } from './live-load.ts'

/** A hundred agents at work in another process than the server, over the same ledger. */
const [store = ''] = process.argv.slice(2)
const ledger = await openLedger(store)
const emitter = new TraceEmitter({ ledger })
const writing = new Set<() => void>()
let steps = 0
let isOver = false

async function work(index: number): Promise<void> {
  const session = await emitter.forSession({
    sessionId: sessionOf(index),
    streamId: `stream-${index}`,
    persona: 'Owl',
  })
  await sleep((index * STEP_MS) / ROOMS)
  const beganMs = performance.now()
  let told = 0
  for (let nextMs = beganMs + STEP_MS; !isOver; nextMs += STEP_MS) {
    const step = await session.startStep({ stepType: 'thinking' })
    let text = ''
    const write = (): void => {
      // A timer that comes late comes once for all the times it missed: the clock says how many tokens are due.
      const due = Math.floor((performance.now() - beganMs) / TOKEN_MS) - told
      told += due
      step.progress({ content: (text += TOKEN.repeat(due)) })
    }
    writing.add(write)
    await sleep(Math.max(0, nextMs - performance.now()))
    writing.delete(write)
    await step.complete({ content: text })
    steps++
  }
  await session.notifyCompleted()
}

const timer = setInterval(() => {
  for (const write of writing) write()
}, TOKEN_MS)
process.on('message', (message) => {
  if (message === 'stop') isOver = true
})
await Promise.all(Array.from({ length: ROOMS }, (_, index) => work(index)))
clearInterval(timer)
await ledger.close()
process.send?.({ steps })
process.disconnect()
