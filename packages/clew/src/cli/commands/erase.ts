import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { ClewError, type Ledger } from '@clew/ledger'
import type { z } from 'zod'
import { erase, toEraseTarget } from '../../operations/erase.ts'
import { sqlitePath } from '../../sqlite-path.ts'
import { ask } from '../ask.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { resolveEvent } from '../resolve-event.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable, wrap } from '../text.ts'

type Report = z.output<typeof erase.output>
const ASK_MS = 5 * 60_000

export const eraseCommand: Command<InputOf<typeof erase>> = ({ input, flags, terminal, withLedger }) => {
  toEraseTarget(input)
  const file = text(flags['certificate'])
  if (file !== undefined && existsSync(file))
    throw new ClewError(
      'bad_option',
      `The file ${file} already exists`,
      'Name another; nothing was erased.',
      {
        option: '--certificate',
      },
    )
  return withLedger(
    async (ledger) => {
      const wanted = await resolve(ledger, input)
      if (terminal.interactive && flags['yes'] !== true && input.dryRun !== true) {
        const plan = await erase.run(ledger, { ...wanted, dryRun: true })
        if (plan.events > 0 && !(await isSure(terminal, plan))) return EXIT.no
      }
      const report = await run(ledger, wanted, terminal, file, text(flags['key']))
      if (file !== undefined && report.certificate)
        await writeFile(file, `${JSON.stringify(report.certificate, null, 2)}\n`, { flag: 'wx' })
      await terminal.answer(report, () => lines(terminal, report, file))
      return report.unfinished === null ? EXIT.fine : EXIT.no
    },
    { readOnly: false },
  )
}

async function resolve(ledger: Ledger, input: InputOf<typeof erase>): Promise<InputOf<typeof erase>> {
  const runId = input.runId === undefined ? undefined : await resolveRun(ledger, input.runId)
  const eventId = input.eventId === undefined ? undefined : await eventIdOf(ledger, input.eventId)
  return { ...input, runId, eventId }
}

async function eventIdOf(ledger: Ledger, given: string): Promise<string> {
  const found = await resolveEvent(ledger, given)
  const [, run, seq] = /^(.+):(\d+)$/s.exec(found) ?? []
  if (run === undefined) return found
  for await (const event of ledger.read(run, { afterSeq: Number(seq) - 1, limit: 1 })) return event.eventId
  throw new ClewError(
    'not_found',
    `Run ${run} has no event ${seq}`,
    'See `clew events`; nothing was erased.',
    {
      runId: run,
    },
  )
}

async function run(
  ledger: Ledger,
  wanted: InputOf<typeof erase>,
  terminal: Terminal,
  file: string | undefined,
  key: string | undefined,
): Promise<Report> {
  const progress = createProgress(terminal, 'looking', (done) => plural(done, 'event'))
  try {
    const context = { onProgress: progress.update }
    if (file === undefined) return await erase.run(ledger, wanted, context)
    const { headSigner } = await import('../../signing.ts')
    const keyFile = key ?? `${sqlitePath(ledger.url) ?? 'clew'}.signing.pem`
    return await erase.run(ledger, wanted, { ...context, signer: headSigner(keyFile) })
  } finally {
    progress.end()
  }
}

async function isSure(terminal: Terminal, plan: Report): Promise<boolean> {
  const { bold } = terminal.output.colour
  await terminal.print([
    `${bold(plural(plan.events, 'event'))} in ${plural(plan.runs, 'run')} would be erased for good.`,
  ])
  const said = await ask('Erase them? [y/N] ', ASK_MS, terminal.signal)
  return /^y(?:es)?$/i.test(said?.trim() ?? '')
}

function lines({ output, width, next }: Terminal, report: Report, file: string | undefined): string[] {
  const { green, yellow, dim, bold } = output.colour
  const { events, runs, values, memory, searchRows, kept, dryRun } = report
  if (events === 0)
    return ['Nothing of it is here.', ...leftLines(report, yellow, width), '', dim(next('clew search …'))]
  const parts = [
    plural(values, 'shared value'),
    `${plural(searchRows, 'row')} of search`,
    ...(memory > 0 ? [`${plural(memory, 'event')} of memory`] : []),
  ]
  const what = `${bold(plural(events, 'event'))} in ${plural(runs, 'run')}`
  const head = dryRun
    ? `${what} would be erased; nothing was changed.`
    : `${green('✓')} ${what} erased, with ${parts.join(', ')}.`
  return [
    ...wrap(head, width),
    ...leftLines(report, yellow, width),
    ...(file !== undefined && report.certificate ? [`Certificate: ${printable(file)}`] : []),
    ...(kept.length > 0 ? [''] : []),
    '',
    dim(`${next('clew verify')} · ${next('clew compliance')}`),
  ].filter((line, at, all) => !(line === '' && all[at - 1] === ''))
}

function leftLines({ kept, unfinished }: Report, mark: (text: string) => string, width: number): string[] {
  const lines = kept.flatMap((part) =>
    wrap(
      part.reason === 'held'
        ? `${mark('!')} Run ${printable(part.runId)} stays: hold ${part.holdId} covers it.`
        : part.reason === 'others'
          ? `${mark('!')} ${plural(part.events, 'event')} of ${printable(part.runId)} stay: others wrote them.`
          : `${mark('!')} ${plural(part.values, 'shared value')} stay: runs that are not about it need them.`,
      width,
    ),
  )
  return unfinished === null ? lines : [...lines, ...wrap(`${mark('!')} ${printable(unfinished)}`, width)]
}
