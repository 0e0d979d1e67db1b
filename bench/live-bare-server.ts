import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sessionRoom } from '@clew/trace'
import { Server } from 'socket.io'
import { answerUsage, GATHER_MS, ROOMS, sessionOf, STEP_MS, TOKEN, TOKEN_MS } from './live-load.ts'

/** Nothing but rooms: the same messages, as large and as often, made up here instead of read from anywhere. */
const http = createServer()
const io = new Server(http, { serveClient: false, perMessageDeflate: false, httpCompression: false })
io.on('connection', (socket) => {
  socket.on('join', (room: string, acknowledge: (answer: object) => void) => {
    void socket.join(room)
    acknowledge({ ok: true })
  })
})

interface Session {
  step: number
  text: string
  version: number
  nextMs: number
}
const sessions = Array.from(
  { length: ROOMS },
  (_, i): Session => ({
    step: 1,
    text: '',
    version: 0,
    nextMs: (i * STEP_MS) / ROOMS,
  }),
)

const common = (index: number, { step }: Session) => ({
  workspaceId: 'default',
  sessionId: sessionOf(index),
  streamId: `stream-${index}`,
  stepId: `0199f2a0-0000-7000-8000-${String(step).padStart(12, '0')}`,
  attempt: 1,
  stepType: 'thinking',
})
const rest = { stepNumber: 7, name: 'thinking', parentStepId: null, startedSeq: 1234 }
const ended = {
  endedSeq: 1235,
  status: 'completed',
  isAssumed: false,
  isContentLeftOut: false,
  sources: [],
  messageId: null,
  error: null,
  durationMs: 400,
}
const beganMs = performance.now()

function tellSteps(): void {
  const elapsed = performance.now() - beganMs
  for (const [index, session] of sessions.entries()) {
    if (elapsed < session.nextMs) continue
    session.nextMs += STEP_MS
    const room = sessionRoom('default', sessionOf(index))
    const now = new Date().toISOString()
    const of = common(index, session)
    const completion = { ...of, ...rest, ...ended, startedAt: now, completedAt: now, content: session.text }
    io.to(room).emit('agent_session:step:completed', completion)
    session.step++
    session.text = ''
    const start = { ...common(index, session), ...rest, startedAt: now, content: null }
    io.to(room).emit('agent_session:step:started', start)
  }
}

let tokensTold = 0

function tellProgress(): void {
  const tokens = Math.floor((performance.now() - beganMs) / TOKEN_MS) - tokensTold
  tokensTold += tokens
  for (const [index, session] of sessions.entries()) {
    session.text += TOKEN.repeat(tokens)
    const payload = { ...common(index, session), version: ++session.version, content: session.text }
    const at = new Date().toISOString()
    io.to(sessionRoom('default', sessionOf(index))).emit('agent_session:step:progress', { ...payload, at })
  }
}

setInterval(tellSteps, 5)
setInterval(tellProgress, GATHER_MS)
answerUsage()
http.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` })
})
