import type { Change } from '@clew/ledger'
import type { ReplayDivergence, PathStep, ReplayOutcome, ReplayReport } from '@clew/runtime'
import { type Colours, createColours, type Style } from '../cli/colour.ts'
import { changeLines } from '../cli/divergence-lines.ts'
import { compact } from '../cli/preview.ts'
import { shellWord } from '../cli/question.ts'
import { cut, pad, plural, printable, wrap } from '../cli/text.ts'
import { formatDuration } from '../cli/time.ts'

export interface ReportStyle {
  /** Default: none, which suits the message of an error. */
  readonly colour?: Colours | undefined
  /** Default 80. */
  readonly width?: number | undefined
  /** The fixture that the run came from. */
  readonly file?: string | undefined
  /** The module that exports the agent, and how a command is written out, for those to copy. */
  readonly module?: string | undefined
  readonly next?: ((command: string) => string) | undefined
  /** `false`: without what can be done now, as for all but the last of several reports. */
  readonly advice?: boolean | undefined
}

interface Look {
  readonly colour: Colours
  readonly width: number
}

export const DIVERGENCES: Readonly<Record<ReplayDivergence['kind'], string>> = {
  order: 'the same step, at another moment or for another reason',
  name: 'another step in its place',
  kind: 'the same step, but another kind of work',
  input: 'the same step with another input',
  output: 'the same code gave something else',
  decision: 'the node chose other targets',
  missing: 'a recorded step that the code did not ask for',
  extra: 'a step that the record does not have',
  unconsumed: 'recorded steps were left over when the code ended',
  redacted: 'the record lacks what the code would be given',
}

/** A report for people: verdict, first divergence, how the paths differ after it, what can be done. */
export function reportLines(report: ReplayReport, style: ReportStyle = {}): string[] {
  const { colour = createColours(false), width = 80 } = style
  const look = { colour, width }
  const [first, ...rest] = report.divergences
  const lines = [...verdictLines(look, report), ...fidelityLines(look, report)]
  if (first) lines.push('', ...firstLines(look, first))
  if (rest.length > 0) lines.push('', ...restLines(look, rest))
  if (first && report.path.length > 0) lines.push('', ...pathLines(look, report.path))
  if (first) lines.push('', ...outcomeLines(look, report))
  if (first && style.advice !== false)
    lines.push('', ...adviceLines(look, adviceFor(first, report.sourceRunId, style)))
  return lines
}

export const verdictText = ({ dim, green, red }: Colours, { verdict, mode }: ReplayReport): string =>
  `${verdict === 'identical' ? green('✓ identical') : red('✗ diverged')}${mode === 're-execute' ? '' : dim(` (${mode})`)}`

function verdictLines({ colour, width }: Look, report: ReplayReport): string[] {
  const { sourceRunId, steps, durationMs, outcome, verdict } = report
  const facts = `${plural(steps, 'step')} in ${formatDuration(durationMs)}`
  const came = verdict === 'identical' ? `, ${outcome.status} as recorded` : ''
  const id = cut(printable(sourceRunId), width - facts.length - came.length - 18)
  return [`${verdictText(colour, report)}  ${colour.bold(id)}  ${colour.dim(`${facts}${came}`)}`]
}

const MADE_WITH = { agentVersion: 'agent version', clewVersion: 'Clew', structureHash: 'graph' } as const

/** D7: what the record was made with, where it is read with something else. */
function fidelityLines({ colour }: Look, { mode, fidelity }: ReplayReport): string[] {
  if (mode === 'reconstruct') return []
  const shown = (text: string | null): string => (text === null ? 'none' : printable(text).slice(0, 12))
  const changed = Object.entries(MADE_WITH).flatMap(([field, name]) => {
    const { recorded, now } = fidelity[field as keyof typeof MADE_WITH]
    return recorded === now ? [] : [`${name} ${shown(recorded)} → ${shown(now)}`]
  })
  return changed.length === 0 ? [] : [colour.dim(`  recorded with another ${changed.join(', ')}`)]
}

function firstLines(look: Look, divergence: ReplayDivergence): string[] {
  const { dim, bold, red } = look.colour
  const { kind, stepId, step, seq, childRunId } = divergence
  const name = stepId ?? step
  const where = seq === null ? '' : dim(`, event ${seq} of the record`)
  const lines = [
    dim('FIRST DIVERGENCE'),
    `  ${red(kind)}: ${DIVERGENCES[kind]}`,
    `  at ${bold(name === null ? 'the run itself' : cut(printable(name), look.width - 40))}${where}`,
  ]
  if (childRunId !== undefined)
    lines.push(dim(`  in child run ${cut(printable(childRunId), look.width - 16)}`))
  return [...lines, ...sidesLines(look, divergence)]
}

/** Shows the differing parts of two values, or both values if they share no part. */
function sidesLines({ colour, width }: Look, { expected, received, changes }: ReplayDivergence): string[] {
  const [only] = changes
  const isWhole = changes.length === 0 || (changes.length === 1 && only?.path === '$')
  if (!isWhole) return changeLines(colour, width, changes)
  const side = (mark: string, style: Style, value: unknown, short: string | null | undefined): string[] => {
    const text = value === undefined || value === null ? (short ?? 'nothing') : valueText(value)
    const shown = wrap(printable(text), width - 8)
    const kept = shown.length > 4 ? [...shown.slice(0, 3), '…'] : shown
    return kept.map((line, at) => `    ${colour[style](`${at === 0 ? mark : ' '} ${line}`)}`)
  }
  return [
    ...side('-', 'red', expected, (only satisfies Change | undefined)?.expected),
    ...side('+', 'green', received, only?.received),
  ]
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : compact(value, 400))

const LISTED = 4

function restLines({ colour, width }: Look, rest: readonly ReplayDivergence[]): string[] {
  const shown = rest.slice(0, LISTED).map(({ kind, stepId, step, seq }) => {
    const place = `${stepId ?? step ?? 'the run itself'}${seq === null ? '' : `, event ${seq}`}`
    return `  ${pad(kind, 10)}  ${cut(printable(place), width - 14)}`
  })
  const more = rest.length > LISTED ? [colour.dim(`  … and ${rest.length - LISTED} more`)] : []
  return [colour.dim('AND THEN'), ...shown, ...more]
}

const MARKS: Readonly<Record<PathStep['match'], readonly [sign: string, style: Style]>> = {
  same: [' ', 'dim'],
  changed: ['≠', 'yellow'],
  missing: ['-', 'red'],
  new: ['+', 'green'],
}

/** Lines of same steps that are kept beside one that differs, and lines in all. */
const AROUND = 2
const MAX_LINES = 16

/**
 * Both paths in one column: what only the record has, what only the code has, what differs, and a little
 * around it.
 */
function pathLines({ colour, width }: Look, path: readonly PathStep[]): string[] {
  const count = (match: PathStep['match']): number => path.filter((step) => step.match === match).length
  const counts = [`${count('same')} the same`]
  for (const match of ['changed', 'missing', 'new'] as const)
    if (count(match) > 0) counts.push(`${count(match)} ${match}`)
  const near = new Set(
    path.flatMap(({ match }, at) =>
      match === 'same' ? [] : Array.from({ length: 2 * AROUND + 1 }, (_, i) => at - AROUND + i),
    ),
  )
  const lines: string[] = []
  let skipped = 0
  for (const [at, step] of path.entries()) {
    if (!near.has(at) || lines.length >= MAX_LINES) {
      skipped++
      continue
    }
    if (skipped > 0) lines.push(colour.dim(`    … ${plural(skipped, 'step')}`))
    skipped = 0
    lines.push(stepLine(colour, width, step))
  }
  if (skipped > 0) lines.push(colour.dim(`    … ${plural(skipped, 'step')}`))
  return [colour.dim(`THE PATHS  ${counts.join(', ')}`), ...lines]
}

function stepLine(colour: Colours, width: number, { match, stepId, kind, decision, seq }: PathStep): string {
  const [sign, style] = MARKS[match]
  const place = seq === null ? '' : `#${seq}`
  const to = decision === null ? '' : ` → ${[decision].flat().join(', ')}`
  const name = cut(printable(`${stepId}${to}`), width - 30)
  const text = `${sign} ${pad(place, 7, 'right')}  ${pad(name, width - 30)}  ${cut(printable(kind), 14)}`
  return `  ${colour[style](text.trimEnd())}`
}

function outcomeLines({ colour, width }: Look, { outcome, recorded }: ReplayReport): string[] {
  const line = (title: string, how: ReplayOutcome): string => {
    const said =
      how.error === undefined
        ? how.output === undefined
          ? ''
          : compact(how.output)
        : `${how.error.name}: ${how.error.message}`
    return `${colour.dim(pad(title, 9))} ${cut(printable(`${how.status} ${said}`), width - 10)}`.trimEnd()
  }
  return [line('RECORDED', recorded), line('NOW', outcome)]
}

interface Advice {
  readonly text: string
  /** Ready to copy. */
  readonly commands?: readonly string[] | undefined
}

/** Commands stand on lines of their own, unbroken, so that they can be copied. */
function adviceLines({ colour, width }: Look, advice: readonly Advice[]): string[] {
  return [
    colour.dim('WHAT NOW'),
    ...advice.flatMap(({ text, commands = [] }) => [
      ...wrap(printable(text), width - 4).map((line, at) => `  ${at === 0 ? '·' : ' '} ${line}`),
      ...commands.map((command) => `    $ ${printable(command)}`),
    ]),
  ]
}

/** Next commands for a divergence of this kind. */
function adviceFor(
  { kind, changes, stepId }: ReplayDivergence,
  runId: string,
  { file, module = 'MODULE', next = (command) => command }: ReportStyle,
): Advice[] {
  const advice: Advice[] = []
  const [change] = changes
  if ((kind === 'input' || kind === 'output') && change && change.path !== '$')
    advice.push({
      text: `If it differs every time: take clock, chance and ids from run.now(), run.random() and run.uuid(), or declare it volatile: ['${change.path.replace(/^\$/, kind)}'].`,
    })
  const hint = HINTS[kind]
  if (hint !== undefined) advice.push({ text: hint })
  advice.push(
    file === undefined
      ? { text: 'If the change is meant, this run is not what the code does any more: record a new one.' }
      : {
          text: 'If the change is meant: run it once more for real, and record that run.',
          commands: [`clew export --run RUN --redacted -o ${shellWord(file)} --force`],
        },
  )
  if (stepId === null) return advice
  const store = file === undefined ? '' : ' --store sqlite:replay.db'
  const whatIf = `clew replay ${shellWord(runId)} --mode what-if --at ${shellWord(stepId)} --agent ${shellWord(module)}${store}`
  advice.push({
    text: 'To go on from there, live, with the code as it is now:',
    commands: file === undefined ? [next(whatIf)] : [`clew import ${shellWord(file)}${store}`, whatIf],
  })
  return advice
}

const HINTS: Partial<Readonly<Record<ReplayDivergence['kind'], string>>> = {
  order:
    'Look for a missing await, or for calls that are made in another order; with a key, a call keeps its name whatever its order.',
  redacted: 'Let an effect fetch the secret, by a name that is no secret, and use it inside that effect.',
}
