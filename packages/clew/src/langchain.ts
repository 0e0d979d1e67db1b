import { assertPeers, type Peer } from './assert-peers.ts'

export const LANGCHAIN_PEERS: readonly Peer[] = [{ name: '@langchain/core', from: '1.1.48' }]

assertPeers('clew/langchain', LANGCHAIN_PEERS)
// Not before it is known that the peer is there: a static import would fail with the loader's own words.
const adapter = await import('@clew/adapters/langchain')

/** What LangChain and LangGraph tell their callbacks, in a ledger: `chain.invoke(input, { callbacks: [handler] })`. */
export const { ClewCallbackHandler } = adapter
export type ClewCallbackHandler = InstanceType<typeof ClewCallbackHandler>
export type {
  ActiveStep,
  ClewCallbackOptions,
  SessionTrace,
  StepCompletion,
  StepSource,
} from '@clew/adapters/langchain'
