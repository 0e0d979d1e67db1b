import type { AuditTrail } from '@clew/ledger'
import { audit } from '../../operations/audit.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { resolveRun } from '../resolve-run.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { cut, plural, printable } from '../text.ts'
import { formatClock } from '../time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'SEQ', align: 'right' },
  { title: 'TIME' },
  { title: 'WHO' },
  { title: 'DID' },
  { title: 'SAFETY' },
  { title: 'OUTCOME' },
  { title: 'WHAT', flexible: true },
]

export const auditCommand: Command<InputOf<typeof audit>> = async ({ input, terminal, withLedger }) => {
  const data = await withLedger(async (ledger) =>
    audit.run(ledger, { runId: await resolveRun(ledger, input.runId) }),
  )
  await terminal.answer(data, () => lines(terminal, data, printable(data.runId ?? input.runId)))
  return EXIT.fine
}

function lines({ output, width, next }: Terminal, trail: AuditTrail, id: string): string[] {
  const { dim, bold } = output.colour
  const rows = trail.entries.map((entry) => {
    const what = [entry.target, entry.detail].filter((part) => part !== null).join(': ')
    const taken = entry.redactions > 0 ? `[${entry.redactions} redacted] ` : ''
    return [
      String(entry.seq),
      formatClock(entry.at),
      cut(printable(entry.who), 20),
      entry.action.replaceAll('_', ' '),
      entry.safety ?? '–',
      entry.outcome ?? '–',
      `${taken}${entry.erased ? '(erased)' : printable(what)}`,
    ]
  })
  const [head = '', ...body] = formatTable(COLUMNS, rows, width)
  const kinds = Object.entries(trail.redactions).map(([kind, count]) => `${count} ${printable(kind)}`)
  const facts = [
    kinds.length > 0 ? `redacted before storing: ${kinds.join(', ')}` : '',
    trail.erasedEvents > 0 ? `${plural(trail.erasedEvents, 'event')} erased` : '',
  ].filter(Boolean)
  const counts = `${plural(rows.length, 'deed')} in ${plural(trail.events, 'event')}`
  return [
    bold(id),
    '',
    dim(head),
    ...body,
    ...(facts.length > 0 ? ['', facts.join(' · ')] : []),
    '',
    dim(
      `${counts} · ${next(`clew verify ${id}`)} · ${next(`clew causes ${id}:${trail.entries.at(-1)?.seq ?? 1}`)}`,
    ),
  ]
}
