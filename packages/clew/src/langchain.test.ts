import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { assertPeers } from './assert-peers.ts'
import { ClewCallbackHandler, LANGCHAIN_PEERS } from './langchain.ts'

it('A4 clew/langchain names the peer it needs at both ends of its range', () => {
  expect(ClewCallbackHandler).toBeTypeOf('function')
  const assertVersion = (version: string | undefined) => () =>
    assertPeers('clew/langchain', LANGCHAIN_PEERS, () => version)
  for (const fine of ['1.1.48', '1.2.13', '1.99.0']) expect(assertVersion(fine)).not.toThrow()
  for (const wrong of ['1.1.47', '0.3.80', '2.0.0'])
    expect(assertVersion(wrong)).toThrow(`needs @langchain/core >=1.1.48 <2, and ${wrong} is installed`)
  expect(assertVersion(undefined)).toThrow('which is not installed')
})

it('A4 the range is the one that the adapters declare', () => {
  const { peerDependencies } = createRequire(import.meta.url)('../../adapters/package.json') as {
    peerDependencies: Record<string, string>
  }
  for (const { name, from } of LANGCHAIN_PEERS) expect(peerDependencies[name]).toBe(`^${from}`)
})
