import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createDatabase, type TestDatabase } from './database.ts'
import { openLedger } from 'clew'

let database: TestDatabase
const homes: string[] = []

/** As on a machine where nothing was opened yet. */
function moveHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'clew-home-'))
  homes.push(home)
  vi.stubEnv('HOME', home)
  return home
}

beforeEach(async () => {
  vi.stubEnv('CLEW_SECRET', undefined)
  vi.stubEnv('CLEW_MODE', '')
  moveHome()
  database = await createDatabase()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const home of homes.splice(0)) rmSync(home, { recursive: true })
  await database.drop()
})

const secret = {
  correlationId: 'r',
  eventType: 'execution.note',
  payload: { apiKey: 'sk-ant-api03-abcdefghijklmnopqrstuvwx' },
}
const kept = async (): Promise<unknown[]> => {
  const ledger = await openLedger(database.url, { readOnly: true })
  const events = await Array.fromAsync(ledger.read('r'))
  await ledger.close()
  return events.map((event) => event.payload['apiKey'])
}

it('P2 the key lies outside the database, for its owner alone, and equal secrets stay equal over processes', async () => {
  const home = moveHome()
  for (let n = 0; n < 2; n++) {
    const ledger = await openLedger(database.url, { index: n === 1 })
    expect(ledger.url).toMatch(/^postgres/)
    await ledger.append([secret])
    await ledger.close()
  }
  const folder = join(home, '.clew', 'keys')
  const files = readdirSync(folder)
  expect(files).toHaveLength(1)
  expect(statSync(join(folder, files[0] as string)).mode & 0o777).toBe(0o600)
  const [first, second] = await kept()
  expect(first).toBe(second)
  expect(String(first)).not.toContain('sk-ant')
})

it('P2 a machine with another key is refused before it writes; with the same CLEW_SECRET it goes on', async () => {
  vi.stubEnv('CLEW_SECRET', 'a text that all machines of this ledger share')
  await (await openLedger(database.url)).close()
  vi.stubEnv('CLEW_SECRET', undefined)
  const home = moveHome()
  await expect(openLedger(database.url)).rejects.toMatchObject({ code: 'bad_option' })
  // It made no key that would stand in the way later.
  expect(readdirSync(home)).toEqual([])
  await (await openLedger(database.url, { readOnly: true })).close()
  vi.stubEnv('CLEW_SECRET', 'a text that all machines of this ledger share')
  const ledger = await openLedger(database.url)
  await ledger.append([secret])
  await ledger.close()
})

it('P3 no password is in the URL shown, nor in an error', async () => {
  const password = new URL(database.url).password || 'hunter2'
  const ledger = await openLedger(database.url)
  expect(ledger.url).not.toContain(password)
  await ledger.close()
  const wrong = new URL(database.url)
  wrong.password = 'hunter2'
  wrong.pathname = '/there_is_none'
  const error: unknown = await openLedger(wrong.href).catch((cause: unknown) => cause)
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('hunter2')
})
