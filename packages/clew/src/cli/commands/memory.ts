import { ClewError, type Ledger, type MemoryHit, type MemoryItem } from '@clew/ledger'
import { memoryContext, memoryGet, memoryList, memorySearch } from '../../operations/memory-reads.ts'
import type { Command, CommandContext, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { jsonText, plural, printable } from '../text.ts'
import { formatRelative } from '../time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'LAYER' },
  { title: 'SCOPE' },
  { title: 'ITEM' },
  { title: 'VERSION', align: 'right' },
  { title: 'WRITTEN' },
  { title: 'VALUE', flexible: true },
]
const SHOWN = 400

/** The rows are brought on before they are asked, which writes; where that cannot be, the memory runs are folded for this once. */
export async function withRows<T>(
  { withLedger }: Pick<CommandContext<unknown>, 'withLedger'>,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  try {
    return await withLedger(work, { readOnly: false, create: false })
  } catch (error) {
    if (!(error instanceof ClewError && error.code === 'store_readonly')) throw error
    return withLedger(work, { readOnly: true })
  }
}

export const memoryListCommand: Command<InputOf<typeof memoryList>> = async (context) => {
  const { input, terminal } = context
  const { items, nextCursor } = await withRows(context, (ledger) => memoryList.run(ledger, input))
  await terminal.answer({ items, nextCursor }, () => {
    const { dim } = terminal.output.colour
    const [first] = items
    if (!first)
      return [
        'There are no memory items.',
        '',
        dim(terminal.next('clew memory put facts/people ann likes-tea')),
      ]
    const more =
      nextCursor === null
        ? ''
        : ` · ${terminal.next(`clew memory list --limit ${input.limit} --cursor ${nextCursor}`)}`
    return [
      ...table(terminal, items),
      '',
      dim(`${plural(items.length, 'item')} · ${terminal.next(getCommand(first))}${more}`),
    ]
  })
  return EXIT.fine
}

export const memoryGetCommand: Command<InputOf<typeof memoryGet>> = async (context) => {
  const { input, terminal } = context
  const data = await withRows(context, (ledger) => memoryGet.run(ledger, input))
  await terminal.answer(data, () => itemLines(terminal, data.item))
  return data.item ? EXIT.fine : EXIT.no
}

export const memorySearchCommand: Command<InputOf<typeof memorySearch>> = async (context) => {
  const { input, terminal } = context
  const data = await withRows(context, (ledger) => memorySearch.run(ledger, input))
  await terminal.answer(data, () => hitLines(terminal, data.hits))
  return EXIT.fine
}

export const memoryContextCommand: Command<InputOf<typeof memoryContext>> = async (context) => {
  const { input, terminal } = context
  const data = await withRows(context, (ledger) => memoryContext.run(ledger, input))
  const { dim } = terminal.output.colour
  await terminal.answer(data, () => [
    ...data.text.split('\n').map(printable),
    '',
    dim(
      `${plural(data.items.length, 'item')}, about ${plural(data.tokens, 'token')} of ${input.budgetTokens} · ${data.left} left out`,
    ),
  ])
  return EXIT.fine
}

/** As a shell takes it: one argument. */
const word = (text: string): string =>
  /^[\w:.,@/=+-]+$/.test(text) ? text : `'${printable(text).replaceAll("'", `'\\''`)}'`

const getCommand = ({ layer, scope, namespace, key }: MemoryItem): string =>
  `clew memory get ${word(namespace)} ${word(key)} --layer ${layer} --scope ${word(scope)}`

const shown = (value: unknown): string =>
  typeof value === 'string' ? printable(value.slice(0, SHOWN)) : jsonText(value).slice(0, SHOWN)

function table({ output, width }: Terminal, items: readonly MemoryItem[]): string[] {
  const now = Date.now()
  const rows = items.map(({ layer, scope, namespace, key, version, updatedAt, value }) => [
    layer,
    printable(scope),
    printable(`${namespace}/${key}`),
    String(version),
    formatRelative(updatedAt, now),
    shown(value),
  ])
  const [head = '', ...body] = formatTable(COLUMNS, rows, width)
  return [output.colour.dim(head), ...body]
}

function itemLines({ output, next }: Terminal, item: MemoryItem | null): string[] {
  const { bold, dim } = output.colour
  if (!item) return ['There is no such item.', '', dim(next('clew memory list'))]
  const { layer, scope, namespace, key, value, version, tags, subjects, provenance } = item
  const run = provenance.runId === null ? '' : ` in run ${printable(provenance.runId)}`
  return [
    `${bold(printable(`${namespace}/${key}`))}  ${layer} ${printable(scope)}  version ${version}`,
    dim(`written ${item.updatedAt}${run}, begun ${item.createdAt}`),
    ...(item.expiresAt === null ? [] : [dim(`expires ${item.expiresAt}`)]),
    ...(tags.length === 0 ? [] : [dim(`tags ${printable(tags.join(', '))}`)]),
    ...(subjects.length === 0 ? [] : [dim(`about ${printable(subjects.join(', '))}`)]),
    '',
    ...(typeof value === 'string' ? value.split('\n').map(printable) : [jsonText(value, 2)]),
    '',
    dim(next(`clew causes ${provenance.eventId}`)),
  ]
}

function hitLines(terminal: Terminal, hits: readonly MemoryHit[]): string[] {
  const { bold, dim, yellow } = terminal.output.colour
  const [first] = hits
  if (!first) return ['Nothing fits.', '', dim(terminal.next('clew memory list'))]
  const lines = hits.flatMap(({ item, score, highlight }) => {
    const { layer, scope, namespace, key, updatedAt } = item
    const text = highlight ? marked(highlight, yellow) : shown(item.value)
    const when = formatRelative(updatedAt, Date.now())
    return [
      `${bold(printable(`${namespace}/${key}`))}  ${layer} ${printable(scope)}  ${dim(`${score.toFixed(2)} · ${when}`)}`,
      `  ${text}`,
    ]
  })
  return [...lines, '', dim(`${plural(hits.length, 'item')} · ${terminal.next(getCommand(first.item))}`)]
}

/** The text on one line with its marks; nothing of it can drive the terminal. */
function marked(
  { text, marks }: NonNullable<MemoryHit['highlight']>,
  style: (text: string) => string,
): string {
  const plain = (from: number, to: number): string => printable(text.slice(from, to).replaceAll(/\s+/g, ' '))
  let [line, at] = ['', 0]
  for (const [from, to] of marks) {
    line += plain(at, from) + style(plain(from, to))
    at = to
  }
  return line + plain(at, text.length)
}
