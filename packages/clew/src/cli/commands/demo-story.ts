import { setTimeout as sleep } from 'node:timers/promises'
import { type ClewEvent, isOwn, type Ledger } from '@clew/ledger'
import { newRunId } from '../../demo/research.ts'
import { demo } from '../../operations/demo.ts'
import { ask } from '../ask.ts'
import type { InputOf } from '../command.ts'
import { createStory, type StoryLines } from '../story.ts'
import type { Terminal } from '../terminal.ts'
import { plural } from '../text.ts'
import { formatDuration } from '../time.ts'

const WORD_MS = 28

/** A scripted run, printed line by line as it is read from the ledger. */
export async function tellDemo(
  ledger: Ledger,
  input: InputOf<typeof demo>,
  terminal: Terminal,
): Promise<void> {
  const runId = input.runId ?? newRunId()
  await terminal.print(opening(terminal, ledger))
  const startedMs = performance.now()
  const lastPosition = await ledger.lastPosition()
  const watched = createWatcher(ledger, runId, lastPosition, terminal, input.fast !== true)
  // Whichever fails first ends the other: a story without a teller, or a teller without a story.
  const [, events] = await Promise.all([
    demo.run(ledger, { ...input, runId }, { signal: terminal.signal, ask: watched.ask }),
    watched.told,
  ])
  await terminal.print(closing(terminal, runId, events, performance.now() - startedMs))
}

interface Watcher {
  /** Number of printed events, when the run has ended. */
  readonly told: Promise<number>
  readonly ask?: (pauseId: string, timeoutMs: number) => Promise<string | undefined>
}

const ENDS = /^system\.workflow_(?:completed|stopped|failed)$/

/** Prints what arrives in the ledger, not what the demo sends: this is the reader's side. */
function createWatcher(
  ledger: Ledger,
  runId: string,
  afterPosition: number,
  terminal: Terminal,
  slowly: boolean,
): Watcher {
  const tell = createStory(terminal.output.colour, terminal.width)
  const runs = new Set([runId])
  const { promise: paused, resolve: onPaused } = Promise.withResolvers<void>()

  async function follow(): Promise<number> {
    let count = 0
    for await (const event of ledger.follow({ afterPosition })) {
      const parent = isOwn(event, 'system.workflow_started') ? event.payload.parentRunId : undefined
      if (parent !== undefined && runs.has(parent)) runs.add(event.correlationId)
      if (!runs.has(event.correlationId)) continue
      count++
      const lines = tell(event)
      if (lines) await say(terminal, lines, slowly)
      if (event.eventType === 'system.workflow_paused') onPaused()
      if (isEnd(event)) return count
    }
    return count
  }
  const isEnd = (event: ClewEvent): boolean => event.correlationId === runId && ENDS.test(event.eventType)

  const told = follow()
  if (!terminal.interactive) return { told }
  return {
    told,
    async ask(_, timeoutMs) {
      await Promise.race([paused, told])
      const prompt = `${' '.repeat(26)}${terminal.output.colour.yellow(`yes or no? (yes in ${timeoutMs / 1000} s) `)}`
      const answer = await ask(prompt, timeoutMs, terminal.signal)
      terminal.signal.throwIfAborted()
      return answer === undefined ? undefined : /^n/i.test(answer.trim()) ? 'no' : 'yes'
    },
  }
}

async function say(
  terminal: Terminal,
  { lead, lines, indent, typed }: StoryLines,
  slowly: boolean,
): Promise<void> {
  if (!(typed && slowly && terminal.output.isTerminal))
    return terminal.print([`${lead}${lines.join(`\n${indent}`)}`.trimEnd()])
  await terminal.write(lead)
  for (const [at, line] of lines.entries()) {
    if (at > 0) await terminal.write(`\n${indent}`)
    for (const [word, text] of line.split(' ').entries()) {
      await terminal.write(word > 0 ? ` ${text}` : text)
      if (!terminal.signal.aborted) await sleep(WORD_MS)
    }
  }
  await terminal.write('\n')
}

function opening({ output }: Terminal, ledger: Ledger): string[] {
  const { bold, dim } = output.colour
  return [
    '',
    `  ${bold('clew demo')}  ${dim(`recording into ${ledger.url}`)}`,
    `  ${dim('A scripted research assistant. Each line is read back from the ledger.')}`,
    '',
  ]
}

function closing(terminal: Terminal, runId: string, events: number, tookMs: number): string[] {
  const { bold, dim, green } = terminal.output.colour
  const commands = [
    [terminal.next(`npx clew show ${runId}`), 'the run, step by step'],
    [terminal.next(`npx clew events ${runId}`), 'every event of it'],
    [terminal.next('npx clew verify'), 'prove that nothing was changed'],
    [terminal.next('npx clew runs'), 'all runs'],
  ] as const
  const widest = Math.max(...commands.map(([command]) => command.length))
  const fits = widest + 36 <= terminal.width
  return [
    '',
    `  ${green('✓')} ${plural(events, 'event')} recorded in ${formatDuration(tookMs)} as ${bold(runId)}`,
    '',
    ...commands.map(([command, about]) =>
      fits ? `    ${command.padEnd(widest)}   ${dim(about)}` : `    ${command}`,
    ),
    '',
  ]
}
