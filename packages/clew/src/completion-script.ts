import type { z } from 'zod'
import { type CliShape, commandOf, type Operation } from './operations/operation.ts'
import { operations } from './operations.ts'

/** Scripts that complete commands, options and their values; made from the registry, so they are never behind it. */

interface Flag {
  readonly names: readonly string[]
  readonly about: string
  /** Value of the flag; undefined for a switch. */
  readonly takes: string | undefined
  readonly values: readonly string[]
}

interface Described {
  readonly name: string
  readonly summary: string
  readonly flags: readonly Flag[]
  /** Kind of the first argument. */
  readonly first: 'run' | 'file' | 'other' | 'none'
  readonly firstValues: readonly string[]
}

const GLOBAL: readonly Flag[] = [
  { names: ['--store'], about: 'the ledger', takes: 'url', values: [] },
  { names: ['--workspace'], about: 'the workspace', takes: 'name', values: [] },
  { names: ['--json'], about: 'answer as JSON', takes: undefined, values: [] },
  { names: ['--no-pager'], about: 'do not use a pager', takes: undefined, values: [] },
  { names: ['-h', '--help'], about: 'show help', takes: undefined, values: [] },
]

export function completionScript(shell: 'bash' | 'zsh' | 'fish'): string {
  const commands = joined((operations as readonly Operation[]).map(describe))
  return { bash, zsh, fish }[shell](commands)
}

/** Those with the same first word are one command, and what follows it is its first value. */
function joined(commands: readonly Described[]): Described[] {
  const found = new Map<string, Described>()
  for (const command of commands) {
    const [name = '', second] = command.name.split(' ')
    const before = found.get(name)
    if (second === undefined) found.set(name, command)
    else {
      const flags = [...(before?.flags ?? []), ...command.flags]
      const known = new Map(flags.map((flag) => [flag.names.join(), flag]))
      const firstValues = [...(before?.firstValues ?? []), second]
      found.set(name, {
        ...command,
        ...before,
        name,
        flags: [...known.values()],
        first: 'other',
        firstValues,
      })
    }
  }
  return [...found.values()]
}

function describe(operation: Operation): Described {
  const { summary } = operation
  const name = commandOf(operation)
  const cli: CliShape<string> = operation.cli
  const flags: Flag[] = []
  for (const [field, spelling = ''] of Object.entries(cli.options ?? {})) {
    const schema = operation.input.shape[field] as z.ZodType
    flags.push(readFlag(spelling, schema.description ?? '', enumValues(schema)))
  }
  for (const [spelling, about] of Object.entries(cli.flags ?? {})) flags.push(readFlag(spelling, about, []))
  const [argument] = cli.arguments ?? []
  const schema =
    argument?.field === undefined ? undefined : (operation.input.shape[argument.field] as z.ZodType)
  const first =
    argument === undefined
      ? 'none'
      : argument.word.startsWith('run')
        ? 'run'
        : argument.word.startsWith('file')
          ? 'file'
          : 'other'
  return { name, summary, flags: [...flags, ...GLOBAL], first, firstValues: schema ? enumValues(schema) : [] }
}

function readFlag(spelling: string, about: string, values: readonly string[]): Flag {
  const takes = /[<[]([^>\]]+)[>\]]/.exec(spelling)?.[1]
  return { names: spelling.match(/--?[A-Za-z][\w-]*/g) ?? [], about, takes, values }
}

/** Zod answers a value that no enumeration has with the ones it has. */
function enumValues(schema: z.ZodType): string[] {
  const [issue] = schema.safeParse('\0').error?.issues ?? []
  return issue?.code === 'invalid_value' ? issue.values.map(String) : []
}

/** Only ids of plain characters: bash expands the words it is offered, and an id may have been chosen by a stranger. */
const RUN_IDS = "clew runs --limit 100 -o ids 2>/dev/null | grep -x '[A-Za-z0-9._:@+=-]*'"

const words = (list: readonly string[]): string => list.join(' ')
const plain = (text: string): string => text.replace(/[`'"\\$:[\]\n]/g, (char) => (char === ':' ? ',' : ''))

function bash(commands: readonly Described[]): string {
  const cases = commands.flatMap(({ name, flags, first, firstValues }) => {
    const valued = flags.filter((flag) => flag.values.length > 0)
    const free = flags.filter((flag) => flag.takes !== undefined && flag.values.length === 0)
    const values =
      firstValues.length > 0
        ? `words="${words(firstValues)}"`
        : first === 'run'
          ? 'words="$(_clew_runs)"'
          : ':'
    return [
      `    ${name})`,
      '      case "$before" in',
      ...valued.map((flag) => `        ${flag.names.join('|')}) words="${words(flag.values)}" ;;`),
      ...(free.length > 0 ? [`        ${free.flatMap((flag) => flag.names).join('|')}) files=1 ;;`] : []),
      `        *) if [[ $current == -* ]]; then words="${words(flags.flatMap((flag) => flag.names))}"`,
      `           else ${first === 'file' ? 'files=1' : values}; fi ;;`,
      '      esac ;;',
    ]
  })
  return `# clew completion for bash. Put this into ~/.bashrc: eval "$(clew completion bash)"
_clew_runs() { ${RUN_IDS}; }
_clew() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" words="" files="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in ${commands.map(({ name }) => name).join('|')}) command="$word"; break ;; esac
  done
  case "$command" in
    "") words="${words([...commands.map(({ name }) => name), '--help', '--version'])}" ;;
${cases.join('\n')}
  esac
  if [[ -n $files ]]; then COMPREPLY=($(compgen -f -- "$current"))
  else COMPREPLY=($(compgen -W "$words" -- "$current")); fi
}
complete -o filenames -F _clew clew
`
}

function zsh(commands: readonly Described[]): string {
  const cases = commands.map(({ name, flags, first, firstValues }) => {
    const specs = flags.flatMap(({ names, about, takes, values }) => {
      const action =
        takes === undefined ? '' : `:${plain(takes)}:${values.length > 0 ? `(${words(values)})` : '_files'}`
      return names.map((flag) => `'${flag}[${plain(about)}]${action}'`)
    })
    if (firstValues.length > 0) specs.push(`'1:value:(${words(firstValues)})'`)
    else if (first === 'run') specs.push("'*:run:_clew_runs'")
    else if (first === 'file') specs.push("'*:file:_files'")
    return `    ${name}) _arguments ${specs.join(' ')} ;;`
  })
  return `#compdef clew
# clew completion for zsh. Put this into ~/.zshrc, after compinit: eval "$(clew completion zsh)"
_clew_runs() { local -a ids; ids=(\${(f)"$(${RUN_IDS})"}); compadd -a ids }
_clew() {
  local -a commands
  commands=(${commands.map(({ name, summary }) => `'${name}:${plain(summary)}'`).join(' ')})
  if (( CURRENT == 2 )); then _describe 'command' commands; return; fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
compdef _clew clew
`
}

function fish(commands: readonly Described[]): string {
  const lines = commands.flatMap(({ name, summary, flags, first, firstValues }) => {
    const inside = `-n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c clew -n __fish_use_subcommand -f -a ${name} -d '${plain(summary)}'`,
      ...flags.map(({ names, about, takes, values }) => {
        const spelt = names.map((flag) =>
          flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
        )
        const value = takes === undefined ? '' : values.length > 0 ? ` -x -a '${words(values)}'` : ' -r'
        return `complete -c clew ${inside} ${spelt.join(' ')}${value} -d '${plain(about)}'`
      }),
      ...(firstValues.length > 0 ? [`complete -c clew ${inside} -f -a '${words(firstValues)}'`] : []),
      ...(first === 'run' ? [`complete -c clew ${inside} -f -a '(__clew_runs)'`] : []),
      ...(first === 'file' ? [`complete -c clew ${inside} -F`] : []),
    ]
  })
  return `# clew completion for fish. Save it: clew completion fish > ~/.config/fish/completions/clew.fish
function __clew_runs; ${RUN_IDS}; end
${lines.join('\n')}
`
}
