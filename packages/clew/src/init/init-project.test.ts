import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { initProject } from './init-project.ts'

function project(files: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'clew-init-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  return { folder, read: (file: string) => readFileSync(join(folder, file), 'utf8') }
}
const whats = (folder: string) => initProject(folder).files.map(({ what }) => what)

it('A5 init writes what is missing, and nothing twice', () => {
  const { folder, read } = project()
  expect(whats(folder)).toEqual(['written', 'written', 'written', 'written', 'written'])
  expect(JSON.parse(read('.mcp.json'))).toEqual({
    mcpServers: { clew: { command: 'npx', args: ['clew', 'mcp'] } },
  })
  expect(read('.claude/skills/clew/SKILL.md')).toMatch(/^---\nname: clew\n/)
  expect(whats(folder)).toEqual(['kept', 'kept', 'kept', 'kept', 'kept'])
})

it('A5 init extends what is there and keeps the rest of it', () => {
  const other = { mcpServers: { other: { command: 'x' } }, more: 1 }
  const { folder, read } = project({
    'agents.ts': 'mine',
    '.mcp.json': JSON.stringify(other),
    'AGENTS.md': '# Mine',
    '.gitignore': 'dist',
  })
  expect(whats(folder)).toEqual(['kept', 'extended', 'extended', 'written', 'extended'])
  expect(read('agents.ts')).toBe('mine')
  expect(JSON.parse(read('.mcp.json'))).toMatchObject(other)
  expect(read('AGENTS.md')).toMatch(/^# Mine\n\n<!-- clew -->/)
  expect(read('.gitignore')).toBe('dist\n.clew/\n')
})

it('A5 init changes no file that it cannot read', () => {
  const { folder, read } = project({ '.mcp.json': '{ // mine' })
  expect(() => initProject(folder)).toThrow('is not JSON')
  expect(read('.mcp.json')).toBe('{ // mine')
  expect(() => initProject(join(folder, 'nowhere'))).toThrow('is not a folder')
})
