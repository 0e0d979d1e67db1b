import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { toolSchema } from '@clew/mcp'
import { tools } from './mcp/tools.ts'
import { commandOf, type Operation } from './operations/operation.ts'
import { operations } from './operations.ts'

const all: readonly Operation[] = operations
const guide = readFileSync(new URL('../../../docs/guide/cli.md', import.meta.url), 'utf8')

it('A1 every operation has its own name and at least one surface', () => {
  expect(new Set(all.map((operation) => operation.name)).size).toBe(all.length)
  for (const operation of all) expect(operation.surfaces.length).toBeGreaterThan(0)
})

it.each(all.map((operation) => [operation.name, operation] as const))(
  'A1 %s is described as a whole',
  (_, operation) => {
    expect(operation.input.safeParse(operation.example.input).success).toBe(true)
    expect(operation.example.command).toMatch(new RegExp(`^clew ${commandOf(operation)}( |$)`))
    for (const side of [operation.input, operation.output])
      expect(() => z.toJSONSchema(side, { io: 'input' })).not.toThrow()
    for (const [field, schema] of Object.entries(operation.input.shape))
      expect([field, (schema as z.ZodType).description]).toEqual([field, expect.any(String)])
  },
)

it.each(all.map(commandOf))('A1 clew %s has its section in the guide', (name) => {
  expect(guide).toContain(`\n## clew ${name}\n`)
})

it('A1 what an operation says of its surfaces is what there is', () => {
  for (const { name, surfaces, rest, mcp } of all) {
    expect([name, 'rest', surfaces.includes('rest')]).toEqual([name, 'rest', rest !== undefined])
    expect([name, 'mcp', surfaces.includes('mcp')]).toEqual([name, 'mcp', mcp !== undefined])
    expect([name, 'cli', surfaces.includes('cli')]).toEqual([name, 'cli', true])
  }
  const offered = tools.map((tool) => `${tool.operation.name} ${tool.name}`)
  expect(new Set(offered)).toEqual(
    new Set(all.flatMap(({ name, mcp }) => (mcp ? [`${name} ${mcp.tool}`] : []))),
  )
  for (const spelt of [all.map(commandOf), all.flatMap(({ mcp }) => (mcp ? [mcp.tool] : []))])
    expect(new Set(spelt).size).toBe(spelt.length)
})

it('A1 a tool takes the fields of its operation, and what it hides is hidden on purpose', () => {
  for (const tool of tools) {
    const fields = Object.keys(tool.operation.input.shape)
    for (const field of tool.hidden ?? []) expect(fields).toContain(field)
    const taken = Object.keys((toolSchema(tool)['properties'] ?? {}) as object)
    expect(taken).toEqual(expect.arrayContaining(fields.filter((field) => !tool.hidden?.includes(field))))
    if (tool.scope !== 'read') expect(toolSchema(tool)['required']).toContain('reason')
    expect([tool.name, tool.effect === undefined]).toEqual([tool.name, tool.scope === 'read'])
  }
})

it('A1 an option of the command line fills a field that the operation has', () => {
  for (const operation of all) {
    const fields = Object.keys(operation.input.shape)
    for (const field of Object.keys(operation.cli.options ?? {})) expect(fields).toContain(field)
    for (const { field } of operation.cli.arguments ?? [])
      if (field !== undefined) expect(fields).toContain(field)
  }
})
