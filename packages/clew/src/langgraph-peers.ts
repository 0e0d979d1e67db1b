import type { Peer } from './assert-peers.ts'

export const LANGGRAPH_PEERS: readonly Peer[] = [
  { name: '@langchain/langgraph-checkpoint', from: '1.1.4' },
  { name: '@langchain/core', from: '1.1.48' },
]
