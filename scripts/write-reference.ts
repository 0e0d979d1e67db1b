import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { tools } from '../packages/clew/src/mcp/tools.ts'
import { commandOf, type Operation } from '../packages/clew/src/operations/operation.ts'
import { operations } from '../packages/clew/src/operations.ts'

/** `npm run reference`: docs/reference.md from the list of operations. A test compares the two. */

const FILE = join(import.meta.dirname, '../docs/reference.md')

const HEAD = `# Reference

Made from the list of operations by \`npm run reference\`; a test compares. Each operation has one id, one input and one answer; the
command line, REST and MCP are spellings of it. A dash: not offered there. Errors are the same everywhere: \`{ error: { code, message, hint, fields } }\`.

Over MCP every tool also takes \`max_tokens\` and \`format\`, and one that does more than read \`reason\` and \`idempotency_key\` ([guide](guide/mcp.md)).
`

export function referenceText(): string {
  const all: readonly Operation[] = operations
  const rows = all.map((operation) => {
    const { name, scope, summary, rest, mcp } = operation
    const paths = rest && [rest.path, ...(rest.also === undefined ? [] : [rest.also])]
    return `| [${name}](#${name.toLowerCase()}) | \`clew ${commandOf(operation)}\` | ${paths ? paths.map((path) => `\`${rest.method.toUpperCase()} ${path}\``).join('<br>') : '—'} | ${mcp ? `\`${mcp.tool}\`` : '—'} | ${mcp?.scope ?? scope} | ${summary} |`
  })
  return [
    HEAD,
    '| id | command | REST | MCP | scope | |\n|---|---|---|---|---|---|',
    rows.join('\n'),
    '',
    ...all.map(sectionOf),
  ].join('\n')
}

function sectionOf(operation: Operation): string {
  const { name, summary, input, mcp, cli } = operation
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' }) as {
    properties?: Record<string, { description?: string }>
    required?: string[]
  }
  const hidden = tools.find((tool) => tool.name === mcp?.tool)?.hidden ?? []
  const options: Readonly<Record<string, string | undefined>> = cli.options ?? {}
  const fields = Object.entries(properties).map(([field, { description = '' }]) => {
    const argument = cli.arguments?.find((each) => each.field === field)
    const spelt = argument ? `<${argument.word}>` : (options[field] ?? '—')
    const inMcp = mcp ? (hidden.includes(field) ? '—' : 'yes') : '—'
    return `| \`${field}\`${required.includes(field) ? ' (required)' : ''} | ${spelt === '—' ? spelt : `\`${spelt.replaceAll('|', '\\|')}\``} | ${inMcp} | ${description.replaceAll('|', '\\|')} |`
  })
  return [
    `## ${name}`,
    '',
    `${summary}.${mcp?.effect === undefined ? '' : ` ${mcp.effect}`}`,
    '',
    ...(fields.length === 0 ? [] : ['| field | command line | MCP | |', '|---|---|---|---|', ...fields, '']),
  ].join('\n')
}

if (import.meta.main) writeFileSync(FILE, `${referenceText().trimEnd()}\n`)
