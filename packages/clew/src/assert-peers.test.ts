import { describe, expect, it } from 'vitest'
import { assertPeers, importWithPeers } from './assert-peers.ts'
import { LANGGRAPH_PEERS } from './langgraph-peers.ts'

const check = (version: string | undefined) => () =>
  assertPeers('clew/langgraph', [{ name: '@langchain/langgraph-checkpoint', from: '1.1.4' }], () => version)

describe('A4 the version of a framework', () => {
  it.each(['1.1.4', '1.1.5', '1.2.0', '1.10.0', '1.1.4-rc.1'])('%s is supported', (version) => {
    expect(check(version)).not.toThrow()
  })

  it.each(['1.1.3', '1.0.9', '0.9.9', '2.0.0', '10.0.0'])(
    '%s is not, in one sentence with the range',
    (version) => {
      expect(check(version)).toThrow(
        `clew/langgraph needs @langchain/langgraph-checkpoint >=1.1.4 <2, and ${version} is installed. ` +
          'Install it with npm install @langchain/langgraph-checkpoint@^1.1.4.',
      )
    },
  )

  it('none at all', () => {
    expect(check(undefined)).toThrow('>=1.1.4 <2, which is not installed')
  })

  it('what is installed here fits', () => {
    expect(() => assertPeers('clew/langgraph', LANGGRAPH_PEERS)).not.toThrow()
  })

  it('cannot be read in a bundle, which has the framework inside: the import decides', async () => {
    const notFound = (): undefined => undefined
    const adapter = { name: 'adapter' }
    const load = (): Promise<typeof adapter> => Promise.resolve(adapter)
    expect(await importWithPeers('clew/langgraph', LANGGRAPH_PEERS, load, notFound)).toBe(adapter)
    const fail = (): Promise<never> => Promise.reject(new Error('Cannot find package'))
    await expect(importWithPeers('clew/langgraph', LANGGRAPH_PEERS, fail, notFound)).rejects.toThrow(
      'which is not installed',
    )
  })

  it('is compared before the import, and other failures of the import are passed on', async () => {
    const tooOld = importWithPeers(
      'clew/langgraph',
      LANGGRAPH_PEERS,
      () => expect.unreachable(),
      () => '0.9.0',
    )
    await expect(tooOld).rejects.toMatchObject({ code: 'bad_peer' })
    const fail = (): Promise<never> => Promise.reject(new SyntaxError('broken'))
    await expect(importWithPeers('clew/langgraph', LANGGRAPH_PEERS, fail)).rejects.toThrow('broken')
  })
})
