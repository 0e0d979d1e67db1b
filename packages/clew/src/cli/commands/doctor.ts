import { type Check, diagnose } from '../../diagnose.ts'
import type { doctor } from '../../operations/doctor.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable, wrap } from '../text.ts'

/** Not `doctor.run`, which has an open ledger: here a store that does not open is a finding. */
export const doctorCommand: Command<InputOf<typeof doctor>> = async ({ terminal, storeUrl, withLedger }) => {
  const report = await diagnose(storeUrl, (look) => withLedger(look))
  await terminal.answer(report, () => lines(terminal, report.checks))
  return report.ok ? EXIT.fine : EXIT.no
}

const MARKS = { ok: '✓', warn: '!', fail: '✗' } as const
const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const NAME = 12

function lines({ output, width, next }: Terminal, checks: readonly Check[]): string[] {
  const { colour } = output
  const result = checks.flatMap(({ name, status, detail, hint }) => {
    const [first = '', ...more] = wrap(printable(detail), width - NAME - 6)
    const indent = ' '.repeat(NAME + 4)
    return [
      `${colour[STYLES[status]](MARKS[status])} ${name.padEnd(NAME)}  ${first}`,
      ...more.map((line) => indent + line),
      ...(hint === null
        ? []
        : wrap(printable(`→ ${hint}`), width - NAME - 6).map((line) => indent + colour.dim(line))),
    ]
  })
  const wrong = checks.filter((check) => check.status !== 'ok').length
  const verdict = wrong === 0 ? 'All is well' : `${plural(wrong, 'finding')} to look at`
  return [...result, '', colour.dim(`${verdict} · ${next('clew verify')}`)]
}
