import { readFile } from 'node:fs/promises'
import { ClewError } from '@clew/ledger'
import type { z } from 'zod'
import { formatSize } from '../../format-size.ts'
import { gc } from '../../operations/gc.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import { keepMemorySteady } from '../steady-memory.ts'
import { formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable } from '../text.ts'

type Report = z.output<typeof gc.output>
const SHOWN = 50

export const gcCommand: Command<InputOf<typeof gc>> = async ({ input, flags, terminal, withLedger }) => {
  const file = text(flags['policy'])
  // Without a file it is the policy that the workspace has, if it has one.
  const policy = file === undefined ? undefined : await readPolicy(file)
  keepMemorySteady()
  return withLedger(
    async (ledger) => {
      const plan = await gc.run(ledger, { ...input, policy, dryRun: true })
      if (input.dryRun === true) {
        await terminal.answer(plan, () => lines(terminal, plan, file))
        return EXIT.fine
      }
      const progress = createProgress(terminal, 'letting go', (done) => plural(done, 'event'), plan.events)
      let report: Report
      try {
        report = await gc.run(ledger, { ...input, policy }, { onProgress: progress.update })
      } finally {
        progress.end()
      }
      await terminal.answer(report, () => lines(terminal, report, file))
      return EXIT.fine
    },
    { readOnly: false, create: false },
  )
}

async function readPolicy(file: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>
  } catch (cause) {
    throw new ClewError(
      'bad_option',
      `The policy file ${file} ${cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read'}`,
      'Name a JSON file; docs/guide/retention.md has examples.',
      { option: '--policy' },
      cause,
    )
  }
}

function lines({ output, width, next }: Terminal, report: Report, file: string | undefined): string[] {
  const { dim, green, yellow } = output.colour
  const { dryRun, events, runs, ranges, kept, rules } = report
  const result: string[] = []
  if (ranges.length > 0) {
    const columns = [
      { title: 'RUN' },
      { title: 'SEQ', align: 'right' },
      { title: 'DELETES' },
      { title: 'RULE', flexible: true },
    ] as const
    const rows = ranges
      .slice(0, SHOWN)
      .map(({ runId, fromSeq, toSeq, deletes, rule }) => [
        printable(runId),
        fromSeq === toSeq ? String(fromSeq) : `${fromSeq}–${toSeq}`,
        deletes ? 'run' : 'events',
        printable(rule),
      ])
    const [head = '', ...body] = formatTable(columns, rows, width)
    result.push(dim(head), ...body)
    if (ranges.length > SHOWN)
      result.push(dim(`… and ${plural(ranges.length - SHOWN, 'range')} more: --json`))
    result.push('')
  }
  if (kept.length > 0) {
    const columns = [{ title: 'KEPT' }, { title: 'RULE' }, { title: 'BECAUSE', flexible: true }] as const
    const rows = kept
      .slice(0, SHOWN)
      .map(({ runId, rule, reason }) => [printable(runId), printable(rule), printable(reason)])
    const [head = '', ...body] = formatTable(columns, rows, width)
    result.push(dim(head), ...body.map((line) => yellow(line)), '')
  }
  const byRule = rules.map((each) => `${printable(each.rule)} ${plural(each.events, 'event')}`).join(', ')
  const what = `${plural(events, 'event')} of ${plural(new Set(ranges.map(({ runId }) => runId)).size, 'run')}, ${plural(runs, 'run')} as a whole`
  if (dryRun) {
    result.push(events === 0 ? 'Nothing would be deleted.' : `Would be deleted: ${what} (${byRule}).`)
    return [...result, '', dim(next(file === undefined ? 'clew gc' : `clew gc --policy ${printable(file)}`))]
  }
  const freed = Math.max(0, report.bytesBefore - report.bytesAfter)
  result.push(
    events === 0
      ? 'Nothing was deleted.'
      : `${green('✓')} Deleted: ${what} (${byRule}); ${plural(report.values, 'shared value')}; ${formatSize(freed)} freed.`,
  )
  return [...result, '', dim(next('clew verify'))]
}
