import type { Ledger } from '@clew/ledger'
import { agent } from '@clew/runtime'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openLedger } from '../open-ledger.ts'
import { pause } from './pause.ts'
import { resume } from './resume.ts'
import { show } from './show.ts'
import { signal } from './signal.ts'

const parsed = <Input>(operation: { input: { parse(input: unknown): Input } }, input: unknown): Input =>
  operation.input.parse(input)

const takes = agent('takes', (run) => run.receive('note'))
let ledger: Ledger
let going: Promise<{ output: unknown }>
beforeEach(async () => {
  ledger = await openLedger('memory:')
  going = takes.start(ledger, null, { runId: 'r' })
  await vi.waitFor(async () => expect((await ledger.getRun('r'))?.status).toBe('paused'), { timeout: 60_000 })
})
afterEach(() => ledger.close())

it('W3 a signal from outside is received, and those that are not are shown without their payloads', async () => {
  const sent = await signal.run(
    ledger,
    parsed(signal, { runId: 'r', name: 'other', payload: 'a long story', id: 'x', by: 'ann' }),
  )
  expect(signal.output.parse(sent)).toMatchObject({ runId: 'r', name: 'other' })
  await signal.run(ledger, parsed(signal, { runId: 'r', name: 'note', payload: { n: 1 } }))
  expect((await going).output).toEqual({ n: 1 })
  const shown = show.output.parse(await show.run(ledger, parsed(show, { runId: 'r' })))
  expect(shown.run.signals?.unread).toBe(1)
  expect(shown.unread).toMatchObject([
    { seq: sent.seq, eventId: sent.eventId, name: 'other', id: 'x', by: 'ann' },
  ])
  expect(JSON.stringify(shown.unread)).not.toContain('story')
})

it('W7 a run is paused and, without its agent, resumed again', async () => {
  const asked = parsed(pause, { runId: 'r', reason: 'wait', by: 'ann' })
  const paused = pause.output.parse(await pause.run(ledger, asked))
  expect(paused.run).toMatchObject({ status: 'paused', held: { reason: 'wait', by: 'ann' } })
  await going
  await signal.run(ledger, parsed(signal, { runId: 'r', name: 'note' }))
  expect((await ledger.getRun('r'))?.status).toBe('paused')
  const resumed = resume.output.parse(await resume.run(ledger, parsed(resume, { runId: 'r', by: 'bob' })))
  expect([resumed.worked, resumed.run.status, resumed.run.held]).toEqual([false, 'pending', undefined])
})
