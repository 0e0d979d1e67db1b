import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ClewError } from '@clew/ledger'
import { skillText } from '../mcp/skill-text.ts'

export interface InitFile {
  readonly file: string
  readonly what: 'written' | 'extended' | 'kept'
  readonly why: string
}

const AGENT = `import { agent } from 'clew'

/** Every call through run is recorded once; after a crash the function goes on where it was. */
export const hello = agent('hello', async (run, input: { name: string }) => {
  const greeting = await run.effect('model', { name: input.name }, ({ name }) => \`Hello \${name}\`)
  return run.step('shout', { greeting }, ({ greeting }) => greeting.toUpperCase())
})
`

const NOTE = `<!-- clew -->
## When a run fails

Runs of this project's agents are recorded by Clew. Before guessing, ask the ledger: the MCP server \`clew\` (tool
\`explain_run\`), or \`npx clew debug RUN\`. How: \`npx clew skill\`.
`

/** Writes what is missing. A file that is there is never overwritten: it is extended where that is safe, else kept. */
export function initProject(folder: string): { files: InitFile[] } {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new ClewError('bad_option', `${folder} is not a folder`, 'Name the folder of a project.', {
      option: 'folder',
    })
  const at = (file: string): string => join(folder, file)
  return {
    files: [
      create(at('agents.ts'), AGENT, 'an example agent'),
      addServer(at('.mcp.json')),
      addText(at('AGENTS.md'), NOTE, '<!-- clew -->', 'tells coding agents where to look'),
      create(at('.claude/skills/clew/SKILL.md'), skillText(), 'how to debug with the ledger'),
      addText(at('.gitignore'), '.clew/\n', '.clew', 'the ledger is no source'),
    ],
  }
}

function create(file: string, text: string, why: string): InitFile {
  if (existsSync(file)) return { file, what: 'kept', why }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return { file, what: 'written', why }
}

function addText(file: string, text: string, mark: string, why: string): InitFile {
  if (!existsSync(file)) return create(file, text, why)
  const old = readFileSync(file, 'utf8')
  if (old.includes(mark)) return { file, what: 'kept', why }
  writeFileSync(
    file,
    `${old}${old === '' || old.endsWith('\n') ? '' : '\n'}${text.startsWith('<') ? '\n' : ''}${text}`,
  )
  return { file, what: 'extended', why }
}

/** Read-only: whoever wants agents to fork and replay adds `--allow`. */
function addServer(file: string): InitFile {
  const why = 'the MCP server, which only reads'
  const entry = { command: 'npx', args: ['clew', 'mcp'] }
  if (!existsSync(file)) return create(file, jsonOf({ mcpServers: { clew: entry } }), why)
  let old: unknown
  try {
    old = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new ClewError(
      'bad_value',
      `${file} is not JSON`,
      'Correct it, or add the server yourself: npx clew mcp. It was not changed.',
      { file },
      cause,
    )
  }
  if (typeof old !== 'object' || old === null || Array.isArray(old))
    throw new ClewError('bad_value', `${file} is not a JSON object`, 'Correct it. It was not changed.', {
      file,
    })
  const servers: unknown = Reflect.get(old, 'mcpServers') ?? {}
  if (typeof servers !== 'object' || servers === null || Object.hasOwn(servers, 'clew'))
    return { file, what: 'kept', why }
  writeFileSync(file, jsonOf({ ...old, mcpServers: { ...servers, clew: entry } }))
  return { file, what: 'extended', why }
}

const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
