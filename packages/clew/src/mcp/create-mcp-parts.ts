import { randomBytes } from 'node:crypto'
import type { McpParts } from '@clew/mcp'
import { readVersion } from '../read-version.ts'
import { resolveIds } from './resolve-ids.ts'
import { tools } from './tools.ts'

export const createMcpParts = (onError?: (error: unknown) => void): McpParts => ({
  tools,
  version: readVersion(),
  randomHex: () => randomBytes(5).toString('hex'),
  resolveIds,
  ...(onError && { onError }),
})
