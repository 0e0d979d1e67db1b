import { once } from 'node:events'
import { ClewError } from '@clew/ledger'
import { z } from 'zod'
import { streaming } from './operation.ts'

export const mcp = streaming({
  name: 'mcp',
  summary: 'Serve the ledger to an agent: tools of MCP over standard input and output',
  scope: 'control',
  surfaces: ['cli'],
  input: z.object({
    allow: z
      .array(z.string())
      .default([])
      .describe('tools that do more than read, separated by commas, such as fork,replay; default none'),
    approvals: z
      .boolean()
      .optional()
      .describe('also allow the tool answer, with which an agent speaks for a person'),
  }),
  output: z.discriminatedUnion('type', [
    z.object({ type: z.literal('serving'), tools: z.array(z.string()).readonly() }),
    z.object({ type: z.literal('closed') }),
  ]),
  example: {
    command: 'clew mcp --allow fork,replay --agent ./agents.ts',
    input: { allow: ['fork', 'replay'] },
  },
  cli: {
    group: 'Begin',
    options: { allow: '--allow <tools>', approvals: '--approvals' },
    flags: {
      '--agent <module>': 'file or package that exports agents: their runs can be forked and replayed',
    },
  },
  async *run(ledger, { allow, approvals = false }, { agents, signal } = {}) {
    const [{ serveStdio }, { tools }, { createMcpParts }, { createControl }] = await Promise.all([
      import('@clew/mcp'),
      import('../mcp/tools.ts'),
      import('../mcp/create-mcp-parts.ts'),
      import('../control/create-control.ts'),
    ])
    assertTools(
      allow,
      tools.filter(({ scope }) => scope !== 'read' && scope !== 'approve').map(({ name }) => name),
    )
    const may = ({ scope, name }: (typeof tools)[number]): boolean =>
      scope === 'read' || (scope === 'approve' ? approvals : allow.includes(name))
    const server = serveStdio(createMcpParts(), {
      ledger,
      control: createControl(ledger, { agents }),
      may,
      howToAllow: ({ name, scope }) =>
        `Its owner can start the server with ${scope === 'approve' ? '--approvals' : `--allow ${name}`}.`,
    })
    try {
      yield { type: 'serving' as const, tools: tools.filter(may).map(({ name }) => name) }
      const ends = [server.closed, ...(signal && !signal.aborted ? [once(signal, 'abort')] : [])]
      await Promise.race(ends)
    } finally {
      await server.close()
    }
    yield { type: 'closed' as const }
  },
})

/** A tool that is not known may be a misspelt one that was meant to be allowed, or not: refuse to start. */
function assertTools(allow: readonly string[], known: readonly string[]): void {
  const strange = allow.find((name) => !known.includes(name))
  if (strange === undefined) return
  throw new ClewError(
    'bad_option',
    strange === 'answer'
      ? 'The tool answer is not allowed by --allow'
      : `There is no tool ${JSON.stringify(strange.slice(0, 60))} that could be allowed`,
    strange === 'answer' ? 'Use --approvals.' : `Use ${known.join(', ')}; tools that read are always there.`,
    { option: '--allow' },
  )
}
