import { ClewError, type Ledger, type RunSummary } from '@clew/ledger'
import type { AgentSet } from '../../control/run-control.ts'
import type { ControlOutcome } from '../../operations/schemas.ts'
import { resume } from '../../operations/resume.ts'
import { agentsOf } from '../agent-flag.ts'
import { ask } from '../ask.ts'
import { type Command, type Flags, type InputOf, text } from '../command.ts'
import { createLiveRun, waitOrDetach } from '../live-run.ts'
import { exitOf, outcomeLines } from '../outcome.ts'
import { optionText, readQuestion, shellWord } from '../question.ts'
import { chooseAnswer, fitAnswer } from '../read-answer.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { printable, wrap } from '../text.ts'

type Input = InputOf<typeof resume>

export const resumeCommand: Command<Input> = ({ input, flags, terminal, withLedger }) =>
  withLedger(async (ledger) => {
    const runId = await resolveRun(ledger, input.runId)
    const agents = await agentsOf(flags)
    const run = (await ledger.getRun(runId)) as RunSummary
    // Before the user is asked: fails first if none of the agents can resume the run.
    agents?.of(run)
    const secrets = secretsOf(flags)
    const given = { ...input, runId }
    const asked = secrets ? given : await withAnswer(terminal, run, given)
    const data = await goOn(ledger, terminal, asked, agents, secrets)
    await terminal.answer(data, () =>
      data.worked ? outcomeLines(terminal, data, text(flags['agent'])) : answered(terminal, data),
    )
    return exitOf(data)
  })

async function goOn(
  ledger: Ledger,
  terminal: Terminal,
  input: Input,
  agents: AgentSet | undefined,
  secrets: readonly string[] | undefined,
): Promise<ControlOutcome> {
  const { createControl } = await import('../../control/create-control.ts')
  const live = createLiveRun(terminal)
  try {
    const control = createControl(ledger, { agents })
    const { onEvent } = live
    const { runId, ...request } = input
    const going = secrets
      ? control.resume(runId, { ...request, secrets, onEvent })
      : resume.run(ledger, input, { control, onEvent })
    return await waitOrDetach(going, terminal)
  } finally {
    await live.end()
    if (terminal.signal.aborted && agents)
      terminal.errors.stream.write(
        `The run was left as it is. Resume it with: ${terminal.next(`clew resume ${shellWord(input.runId)} …`)}\n`,
      )
  }
}

/** P2: never from the command line itself, which others on the machine can read. */
function secretsOf(flags: Flags): readonly string[] | undefined {
  const names = text(flags['secretsEnv'])?.split(',')
  return names?.map((name) => {
    const secret = process.env[name.trim()]
    if (secret) return secret
    throw new ClewError(
      'bad_option',
      `The environment variable ${name.trim()} of --secrets-env is not set`,
      'Set it to the secret, exactly as it was; nothing was changed.',
      { option: 'secrets-env' },
    )
  })
}

const A_DAY_MS = 86_400_000

/** The answer of the option, in the form that was asked for; else the one that the user types at the terminal. */
async function withAnswer(terminal: Terminal, run: RunSummary, input: Input): Promise<Input> {
  const pause =
    input.pauseId === undefined
      ? run.pauses.length === 1
        ? run.pauses[0]
        : undefined
      : run.pauses.find(({ pauseId }) => pauseId === input.pauseId)
  if (!pause) return input
  const question = readQuestion(pause)
  if (input.answer !== undefined) return { ...input, answer: fitAnswer(question, input.answer) }
  if (!terminal.interactive || question.isGate) return input
  const { yellow } = terminal.output.colour
  const choices = question.options.map((option, at) => `  ${at + 1}  ${printable(optionText(option))}`)
  await terminal.print([
    ...wrap(printable(question.text), terminal.width - 2).map(
      (line, at) => `${at === 0 ? yellow('?') : ' '} ${line}`,
    ),
    ...choices,
  ])
  const said = await ask(yellow('❯ '), A_DAY_MS, terminal.signal)
  terminal.signal.throwIfAborted()
  if (said === undefined || said.trim() === '')
    throw new ClewError(
      'bad_answer',
      'No answer was given',
      'The question stays open; nothing was changed.',
      {
        pauseId: pause.pauseId,
      },
    )
  return { ...input, pauseId: pause.pauseId, answer: chooseAnswer(question, said.trim()) }
}

function answered({ output, next, width }: Terminal, { run }: ControlOutcome): string[] {
  const { green, dim } = output.colour
  const id = shellWord(printable(run.runId))
  const agent = printable(run.agent ?? 'its agent')
  const left = run.pauses.length === 0 ? '' : ` ${run.pauses.length} more of its questions are open.`
  return [
    ...wrap(
      `The answer is recorded. The run continues when a process with ${agent} resumes it.${left}`,
      width - 2,
    ).map((line, at) => `${at === 0 ? green('✓') : ' '} ${line}`),
    '',
    dim(`${next(`clew resume ${id} --agent MODULE`)} · ${next(`clew show ${id}`)}`),
  ]
}
