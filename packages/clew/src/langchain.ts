import { importWithPeers, type Peer } from './assert-peers.ts'

export const LANGCHAIN_PEERS: readonly Peer[] = [{ name: '@langchain/core', from: '1.1.48' }]

// A static import would fail with the loader's message, which names no version.
const adapter = await importWithPeers(
  'clew/langchain',
  LANGCHAIN_PEERS,
  () => import('@clew/adapters/langchain'),
)

/** Records the callbacks of LangChain and LangGraph in a ledger: `chain.invoke(input, { callbacks: [handler] })`. */
export const { ClewCallbackHandler } = adapter
export type ClewCallbackHandler = InstanceType<typeof ClewCallbackHandler>
export type {
  ActiveStep,
  ClewCallbackOptions,
  SessionTrace,
  StepCompletion,
  StepSource,
} from '@clew/adapters/langchain'
