import { foreignType } from '@clew/ledger'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { BIN, type Ended, ended, startNode } from '../../test/run-clew.ts'
import { openLedger } from '../open-ledger.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-vault-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const url = `sqlite:${join(folder, 'ledger.db')}`
const KEY = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')

const clew = (vault: string, ...args: readonly string[]): Promise<Ended> =>
  ended(startNode(folder, [BIN, ...args], { CLEW_STORE: url, CLEW_VAULT: vault, COLUMNS: '100' }))

it('P2 clew vault rotate makes a new key and says which; views have no secret, and without keys it is refused', async () => {
  const ledger = await openLedger(url, { vault: true })
  await ledger.record({
    eventType: foreignType('execution.note'),
    correlationId: 'r',
    payload: { text: `use ${KEY}` },
  })
  await ledger.close()
  const refused = await clew('', 'vault', 'rotate')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('was opened without a vault')])
  const rotated = await clew('on', 'vault', 'rotate')
  expect(rotated.stdout).toMatch(/1 row encrypted again; the key is now file-2-[0-9a-f]{12}/)
  expect(readdirSync(folder).filter((name) => name.includes('vault-'))).toHaveLength(2)
  for (const args of [
    ['events', 'r', '--json'],
    ['show', 'r'],
    ['export'],
    ['transcript', 'r'],
    ['verify'],
  ]) {
    const { code, stdout, stderr } = await clew('on', ...args)
    expect([args[0], code]).toEqual([args[0], 0])
    expect(stdout + stderr).not.toContain(KEY)
  }
})
