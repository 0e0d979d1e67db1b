import { ClewError, splitQuery } from '@clew/ledger'
import type { z } from 'zod'
import { Command, type CommanderError, Option } from 'commander'
import type { CliArgument, CliShape, Operation } from '../operations/operation.ts'
import { operations } from '../operations.ts'
import type { Flags } from './command.ts'
import type { GivenField } from './parse-input.ts'

export interface Chosen {
  readonly operation: Operation
  readonly given: readonly GivenField[]
  readonly flags: Flags
}

const GROUPS: Readonly<Record<CliShape<string>['group'], string>> = {
  Begin: 'Get started:',
  Look: 'Look at runs:',
  Remember: 'Memory:',
  Control: 'Control runs:',
  Prove: 'Verify and audit:',
  Move: 'Move and rebuild data:',
}

/** The command line as the registry describes it; `choose` learns what was asked for. */
export function buildProgram(version: string, choose: (chosen: Chosen) => void): Command {
  const program = new Command('clew')
    .description('One append-only ledger of what your agents really did.')
    .usage('<command> [options]')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => `${command.name()} ${usage(command)}`.trim(),
    })
    .option('--store <url>', 'the ledger; default CLEW_STORE, else sqlite:.clew/ledger.db')
    .option('--workspace <name>', 'the workspace; default CLEW_WORKSPACE, else default')
    .option('--json', 'answer as JSON')
    .option('--no-pager', 'do not use a pager')
    .addHelpText(
      'after',
      '\nStart with:\n  $ clew demo\n\nRun clew <command> --help for the options of a command.',
    )
  const order = Object.keys(GROUPS)
  for (const operation of operations.toSorted(
    (a, b) => order.indexOf(a.cli.group) - order.indexOf(b.cli.group),
  ))
    addCommand(program, operation, choose)
  return program
}

/** Operations with a first word in common stand below a command of that word. */
function addCommand(program: Command, operation: Operation, choose: (chosen: Chosen) => void): void {
  const command = buildCommand(operation, choose)
  const [word] = operation.cli.words ?? []
  if (word === undefined) return void program.addCommand(command)
  let above = program.commands.find((each) => each.name() === word)
  if (!above) {
    above = quiet(new Command(word))
      .description(`${ABOUT[word]}.`)
      .summary(ABOUT[word] ?? '')
      .helpGroup(GROUPS[operation.cli.group])
      .helpCommand(false)
      .configureHelp({
        showGlobalOptions: true,
        subcommandTerm: (each) => `${each.name()} ${usage(each)}`.trim(),
      })
      .addHelpText('after', `\nExample:\n  $ ${operation.example.command}`)
      .action(() => above?.outputHelp())
    program.addCommand(above)
  }
  above.addCommand(command.helpGroup('Commands:'))
}

const ABOUT: Readonly<Record<string, string>> = {
  hold: 'Legal holds: protect data from retention and erasure',
  memory: 'What agents remember, by run, thread, workspace, agent or user',
  queue: 'Queues of submitted runs: their limits, and what waits in them',
  schedule: 'Runs that workers start by the clock',
  token: 'Access tokens for the server',
  vault: 'Encrypted originals of redacted secrets',
}

const quiet = (command: Command): Command =>
  command
    .helpOption('-h, --help', 'show help')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })

const usage = (command: Command): string =>
  command.registeredArguments.map((each) => usageOf(each.name(), each.required, each.variadic)).join(' ')

const usageOf = (word: string, required: boolean, many = false): string => {
  const name = many ? `${word}...` : word
  return required ? `<${name}>` : `[${name}]`
}

function buildCommand(operation: Operation, choose: (chosen: Chosen) => void): Command {
  const { name, summary, example, input } = operation
  const cli: CliShape<string> = operation.cli
  const command = quiet(new Command(cli.words?.[1] ?? name))
    .description(`${summary}.`)
    .summary(summary)
    .helpGroup(GROUPS[cli.group])
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `\nExample:\n  $ ${example.command}`)
  const args: readonly CliArgument<string>[] = cli.arguments ?? []
  for (const { word, required, many, about } of args) command.argument(usageOf(word, required, many), about)

  const fields = new Map<string, string>()
  for (const [field, flags] of Object.entries(cli.options ?? {})) {
    const about = (input.shape[field] as { description?: string }).description ?? ''
    const option = new Option(flags ?? '', about)
    // A list may be given in one text with commas, or by the option several times.
    if (isList(input.shape[field] as z.ZodType))
      option.argParser((text, before: unknown) => (typeof before === 'string' ? `${before},${text}` : text))
    fields.set(option.attributeName(), field)
    command.addOption(option)
  }
  for (const [flags, about] of Object.entries(cli.flags ?? {})) command.option(flags, about)

  command.action((...values: unknown[]) => {
    const given: GivenField[] = []
    const flags: Record<string, Flags[string]> = { ...command.optsWithGlobals() }
    for (const [at, { word, field }] of args.entries()) {
      const value = values[at]
      if (Array.isArray(value)) {
        if (field === undefined) flags[word] = value as string[]
        else if (value.length > 0)
          given.push({ field, name: `<${word}>`, value: joinWords(value as string[]) })
      }
      if (typeof value !== 'string') continue
      if (field === undefined) flags[word] = value
      else given.push({ field, name: `<${word}>`, value })
    }
    for (const option of command.options) {
      const field = fields.get(option.attributeName())
      const value = flags[option.attributeName()]
      if (field !== undefined && (typeof value === 'string' || typeof value === 'boolean'))
        given.push({ field, name: option.long ?? field, value })
    }
    choose({ operation, given, flags })
  })
  return command
}

const isList = (schema: z.ZodType): boolean => schema.safeParse([]).success && !schema.safeParse('').success

/** The shell has taken quotation marks off: what was given as one of several words and has spaces is put back in them. */
function joinWords(words: readonly string[]): string {
  if (words.length === 1) return words[0] as string
  return words.map((word) => (/\s/.test(word) && !word.includes('"') ? quoteWord(word) : word)).join(' ')
}

/** Quotes the value of `error:rate limit`, and nothing of a word that has several fields. */
function quoteWord(word: string): string {
  const [first, ...rest] = splitQuery(word)
  if (!first || first.field === null || first.value === '') return `"${word}"`
  if (rest.some(({ field }) => field !== null)) return word
  const at = word.indexOf(':') + 1
  return `${word.slice(0, at)}"${word.slice(at)}"`
}

/** Converts an error of commander to a ClewError; undefined if it only showed help or the version. */
export function toUsageError(error: CommanderError, command: string | null): ClewError | undefined {
  if (error.exitCode === 0 || error.code === 'commander.help') return undefined
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n')
  const near = /\((Did you mean .+\?)\)/.exec(more.join(' '))?.[1]
  const message = first.charAt(0).toUpperCase() + first.slice(1).replace(/\.$/, '')
  return new ClewError('bad_option', message, near ?? `See \`clew ${command ? `${command} ` : ''}--help\`.`)
}
