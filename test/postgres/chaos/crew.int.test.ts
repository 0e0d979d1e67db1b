import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../../packages/postgres/test/harness.ts'
import { createDatabase } from '../database.ts'
import { createCrew } from './crew.ts'
import { createDice } from './dice.ts'
import { hasOpenErrands } from './open-errands.ts'

it('L5 a writer that replaces a killed one and is stopped at once still sends what was never answered', async () => {
  const database = await createDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'clew-crew-'))
  const crew = createCrew({
    folder,
    dice: createDice(1),
    urlOf: () => database.url,
    sweepMs: 1000,
    freshRuns: 1,
  })
  onTestFinished(async () => {
    await crew.close()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })
  const ledger = await openLedger(database.url)
  onTestFinished(() => ledger.close())
  const eventId = randomUUID()
  const left = { eventId, eventType: 'execution.note', correlationId: 'left', payload: { key: 'left' } }
  // As noted by a writer that was killed between its call and the answer.
  writeFileSync(join(folder, 'writer-0-0'), `${JSON.stringify({ intent: [left] })}\n`)
  crew.start('writer', 0)
  const [first] = crew.members
  if (!first) throw new Error('no writer was started')
  await crew.kill(first)
  await crew.stop('writer')
  expect(await ledger.getEvent(eventId)).toMatchObject({ correlationId: 'left' })
})

it('a process that ends by itself is a failure, also one that could note nothing; a killed one is none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-crew-'))
  const crew = createCrew({
    folder,
    dice: createDice(1),
    urlOf: () => 'no url',
    sweepMs: 1000,
    freshRuns: 1,
  })
  onTestFinished(async () => {
    await crew.close()
    rmSync(folder, { recursive: true, force: true })
  })
  crew.start('writer', 0)
  crew.start('worker', 0)
  const [writer, worker] = crew.members
  if (!writer || !worker) throw new Error('no process was started')
  worker.child.kill('SIGKILL')
  await Promise.all([writer.ended, worker.ended])
  expect(crew.failures).toEqual(['writer 0 ended with exit code 1'])
})

it('a run that is interrupted and resumed all the time never looks as if no run were open', async () => {
  const database = await createDatabase()
  const ledger = await openLedger(database.url)
  onTestFinished(async () => {
    await ledger.close()
    await database.drop()
  })
  const tell = (type: string, payload: object = {}) =>
    ledger.appendWire([{ event_type: type, correlation_id: 'errand-1', payload }])
  await tell('system.workflow_started', { agent: 'errand' })
  let isOver = false
  const changing = (async () => {
    while (!isOver) {
      await tell('system.workflow_interrupted', { reason: 'its process died' })
      await tell('system.workflow_resumed')
    }
  })()
  for (let n = 0; n < 200; n++) expect(await hasOpenErrands(database)).toBe(true)
  isOver = true
  await changing
  await tell('system.workflow_completed')
  expect(await hasOpenErrands(database)).toBe(false)
})
