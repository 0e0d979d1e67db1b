import { expect, it } from 'vitest'
import { readVault } from './read-vault.ts'

it('P2 CLEW_VAULT says whether the vault is on, and with which keys', () => {
  expect([undefined, '', 'off', 'on'].map(readVault)).toEqual([undefined, undefined, undefined, true])
  expect(readVault('kms:2:AbC=, kms:1:dEf')).toEqual({
    id: 'kms:2',
    key: 'AbC=',
    older: [{ id: 'kms:1', key: 'dEf' }],
  })
})

it('P3 a mistake in it is told without showing what was given', () => {
  for (const text of ['yes', 'sesame-sesame', ':key', 'a:b,sesame']) {
    let message = ''
    try {
      readVault(text)
    } catch (error) {
      message = String(error)
    }
    expect(message).toContain('CLEW_VAULT is neither on, off nor a list of keys')
    expect(message).not.toContain('sesame')
  }
})
