import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
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

it('A1 an option of the command line fills a field that the operation has', () => {
  for (const operation of all) {
    const fields = Object.keys(operation.input.shape)
    for (const field of Object.keys(operation.cli.options ?? {})) expect(fields).toContain(field)
    for (const { field } of operation.cli.arguments ?? [])
      if (field !== undefined) expect(fields).toContain(field)
  }
})
