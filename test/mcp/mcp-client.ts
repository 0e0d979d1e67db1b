import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { BIN } from '../../packages/clew/test/run-clew.ts'

export interface Told {
  readonly text: string
  readonly isError: boolean
}

/** The official client, with what the tests ask of it. */
export interface McpClient {
  readonly client: Client
  readonly tools: () => Promise<string[]>
  call(name: string, args?: Record<string, unknown>): Promise<Told>
  json<T>(name: string, args?: Record<string, unknown>): Promise<T>
}

async function connect(transport: Transport, name: string, isModern: boolean): Promise<McpClient> {
  const client = new Client(
    { name, version: '1' },
    isModern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
  )
  await client.connect(transport)
  const call: McpClient['call'] = async (tool, args = {}) => {
    const { content, isError } = await client.callTool({ name: tool, arguments: args })
    return {
      text: (content as { text: string }[]).map(({ text }) => text).join(''),
      isError: isError === true,
    }
  }
  return {
    client,
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call,
    json: async <T>(tool: string, args = {}) =>
      JSON.parse((await call(tool, { max_tokens: 100_000, ...args, format: 'json' })).text) as T,
  }
}

/** Over streamable HTTP; `isModern` speaks the newest revision of the protocol, which has no sessions. */
export const connectHttp = (
  url: string,
  { token, name = 'tester', isModern = false }: { token?: string; name?: string; isModern?: boolean } = {},
): Promise<McpClient> =>
  connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      ...(token !== undefined && { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    }),
    name,
    isModern,
  )

/** `clew mcp` in a folder, as a coding agent starts it: by default from source. */
export function connectStdio(
  folder: string,
  args: readonly string[] = [],
  { command = process.execPath, first = [BIN], env = {} }: StdioStart = {},
): Promise<McpClient> {
  return connect(
    new StdioClientTransport({
      command,
      args: [...first, 'mcp', ...args],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', ...env },
    }),
    'tester',
    false,
  )
}

interface StdioStart {
  readonly command?: string
  /** Arguments before `mcp`. */
  readonly first?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}
