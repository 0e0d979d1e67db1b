import { expect, it } from 'vitest'
import type { Command } from 'commander'
import { commandOf } from '../operations/operation.ts'
import { operations } from '../operations.ts'
import { buildProgram, type Chosen } from './build-program.ts'

function choose(...argv: string[]): Chosen | undefined {
  let chosen: Chosen | undefined
  buildProgram('0.0.0', (found) => (chosen = found)).parse(argv, { from: 'user' })
  return chosen
}

it.each(operations.map((operation) => [commandOf(operation), operation] as const))(
  'A1 the help of clew %s has its options and an example',
  (name, { example, cli }) => {
    let command: Command | undefined = buildProgram('0.0.0', () => {})
    for (const word of name.split(' ')) command = command?.commands.find((each) => each.name() === word)
    let help = ''
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
    expect(help).toContain(`Example:\n  $ ${example.command}`)
    const flags = [
      ...Object.values('options' in cli ? cli.options : {}),
      ...Object.keys('flags' in cli ? cli.flags : {}),
    ]
    for (const flag of [...flags, '--json', '--store <url>', '--workspace <name>'])
      expect(help).toContain(flag)
  },
)

it('tells fields of the operation from flags of the command line, wherever the global ones stand', () => {
  const chosen = choose('--store', 'sqlite:a.db', 'export', '--run', 'r1', '-o', 'x.ndjson', '--json')
  expect(chosen?.operation.name).toBe('export')
  expect(chosen?.given).toEqual([{ field: 'runId', name: '--run', value: 'r1' }])
  expect(chosen?.flags).toMatchObject({ store: 'sqlite:a.db', output: 'x.ndjson', json: true })
})

/** As a shell splits a command: what is in quotes is one word. */
const shellWords = (command: string): string[] =>
  [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  )

it.each(operations.map((operation) => [operation.example.command, operation.name]))(
  '%s is understood',
  (command, name) => {
    expect(choose(...shellWords(command).slice(1))?.operation.name).toBe(name)
  },
)

it('V13 what the shell unquoted is quoted again, value by value', () => {
  const valueOf = (...words: string[]) => choose('runs', ...words)?.given.map(({ value }) => value)
  expect(valueOf('env:prod', 'error:rate limit')).toEqual(['env:prod error:"rate limit"'])
  expect(valueOf('env:prod', 'steps:<5 sort:-started')).toEqual(['env:prod steps:<5 sort:-started'])
  expect(valueOf('barn owl', 'x')).toEqual(['"barn owl" x'])
  expect(valueOf()).toEqual([])
})
