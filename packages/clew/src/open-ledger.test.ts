import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openLedger } from './open-ledger.ts'

beforeEach(() => vi.stubEnv('CLEW_MODE', ''))
afterEach(() => vi.unstubAllEnvs())

const begin = { eventType: 'system.workflow_started' as const, correlationId: 'r1' }

it('R11 what CLEW_MODE switches off is off, and reading history still works', async () => {
  vi.stubEnv('CLEW_MODE', 'read')
  const ledger = await openLedger('memory:')
  expect(ledger.mode).toEqual({ write: false, resume: false, replay: false })
  await expect(async () => ledger.record(begin)).rejects.toMatchObject({ code: 'switched_off' })
  await expect(ledger.append([begin])).rejects.toMatchObject({
    code: 'switched_off',
    fields: { mode: 'write' },
  })
  expect((await ledger.listRuns()).runs).toEqual([])
  await ledger.close()
})

it('R11 the option wins over CLEW_MODE, switch by switch', async () => {
  vi.stubEnv('CLEW_MODE', 'write')
  const ledger = await openLedger('memory:', { mode: { resume: true } })
  expect(ledger.mode).toEqual({ write: true, resume: true, replay: false })
  await ledger.close()
})

it('R11 without a word from anybody all is on', async () => {
  const ledger = await openLedger('memory:')
  expect(ledger.mode).toEqual({ write: true, resume: true, replay: true })
  expect((await ledger.record(begin)).ledger.seq).toBe(1)
  await ledger.close()
})
