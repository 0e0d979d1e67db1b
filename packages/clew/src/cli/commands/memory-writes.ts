import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { ClewError } from '@clew/ledger'
import { formatSize } from '../../format-size.ts'
import { memoryExport } from '../../operations/memory-reads.ts'
import { memoryForget, memoryImport, memoryPut, memorySweep } from '../../operations/memory-writes.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { writeLines } from '../lines.ts'
import { type Column, formatTable } from '../table.ts'
import { escapeJson, plural, printable } from '../text.ts'
import { withRows } from './memory.ts'

export const memoryPutCommand: Command<InputOf<typeof memoryPut>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => memoryPut.run(ledger, input))
  const { green, dim } = terminal.output.colour
  const { layer, scope, namespace, key, version, expiresAt } = data
  await terminal.answer(data, () => [
    `${green('✓')} ${printable(`${namespace}/${key}`)} is version ${version} of ${layer} memory, ${printable(scope)}`,
    ...(expiresAt === null ? [] : [dim(`expires ${expiresAt}`)]),
    '',
    dim(terminal.next(`clew memory list --layer ${layer}`)),
  ])
  return EXIT.fine
}

export const memoryForgetCommand: Command<InputOf<typeof memoryForget>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => memoryForget.run(ledger, input), { create: false })
  const { green, dim } = terminal.output.colour
  await terminal.answer(data, () =>
    data.forgotten
      ? [
          `${green('✓')} ${printable(`${input.namespace}/${input.key}`)} is forgotten; its value stays in the record`,
          '',
          dim('clew erase takes it out of there, too'),
        ]
      : ['There is no such item.', '', dim(terminal.next('clew memory list'))],
  )
  return data.forgotten ? EXIT.fine : EXIT.no
}

const COLUMNS: readonly Column[] = [
  { title: 'LAYER' },
  { title: 'WHY' },
  { title: 'ITEMS', align: 'right' },
  { title: 'SIZE', align: 'right' },
]

export const memorySweepCommand: Command<InputOf<typeof memorySweep>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => memorySweep.run(ledger, input), {
    readOnly: false,
    create: false,
  })
  const { dim } = terminal.output.colour
  await terminal.answer(data, () => {
    const looked = `${plural(data.checked, 'item')} in ${plural(data.scopes, 'scope')}`
    const held = data.held === 0 ? [] : [`Kept by a legal hold: ${plural(data.held, 'item')}`]
    if (data.forgotten === 0) return [`Nothing to forget in ${looked}.`, ...held]
    const rows = data.byReason.map(({ layer, reason, items, bytes }) => [
      layer,
      reason.replace('_', ' '),
      String(items),
      formatSize(bytes),
    ])
    const [head = '', ...body] = formatTable(COLUMNS, rows, terminal.width)
    const went = data.dryRun ? 'would be forgotten' : 'forgotten'
    return [
      dim(head),
      ...body,
      '',
      `${plural(data.forgotten, 'item')} of ${looked} ${went}, ${formatSize(data.bytes)}`,
      ...held,
    ]
  })
  return EXIT.fine
}

export const memoryExportCommand: Command<InputOf<typeof memoryExport>> = async (context) => {
  const { input, flags, terminal } = context
  const file = text(flags['output'])
  if (file !== undefined && existsSync(file))
    throw new ClewError('bad_option', `The file ${file} already exists`, 'Name another, or remove it.', {
      option: '--output',
    })
  return withRows(context, async (ledger) => {
    const lines = memoryExport.run(ledger, input)
    if (file === undefined) {
      await writeLines(terminal, lines, terminal.output.isTerminal ? escapeJson : (line) => line)
      return EXIT.fine
    }
    let items = 0
    async function* counted(): AsyncGenerator<string> {
      for await (const line of lines) {
        items++
        yield line
      }
    }
    await pipeline(counted, createWriteStream(file, { flags: 'wx' }))
    const { green, dim } = terminal.output.colour
    await terminal.answer({ file, items }, () => [
      `${green('✓')} ${plural(items, 'item')} written to ${printable(file)}`,
      '',
      dim(`clew memory import ${printable(file)} --store sqlite:copy.db`),
    ])
    return EXIT.fine
  })
}

export const memoryImportCommand: Command<InputOf<typeof memoryImport>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const name = text(flags['file']) ?? '-'
  const body = (): AsyncIterable<Uint8Array> => (name === '-' ? process.stdin : createReadStream(name))
  const data = await withLedger((ledger) =>
    memoryImport.run(ledger, input, { files: [{ name, body: body() }] }),
  )
  const { green, dim } = terminal.output.colour
  await terminal.answer(data, () => [
    `${green('✓')} ${plural(data.written, 'item')} remembered, ${data.unchanged} unchanged, ${data.expired} expired`,
    '',
    dim(terminal.next('clew memory list')),
  ])
  return EXIT.fine
}
