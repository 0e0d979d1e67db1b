import { formatChat, formatTranscriptText, formatTranscriptMarkdown, toChatMessages } from '@clew/ledger'
import { transcript } from '../../operations/transcript.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { resolveRun } from '../resolve-run.ts'
import type { Terminal } from '../terminal.ts'
import { jsonText, plural, printable, wrap } from '../text.ts'

export const transcriptCommand: Command<InputOf<typeof transcript>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const { runId, data, folded } = await withLedger(async (ledger) => {
    const id = await resolveRun(ledger, input.runId)
    if (terminal.json)
      return { runId: id, data: await transcript.run(ledger, { ...input, runId: id }), folded: null }
    return { runId: id, data: null, folded: await ledger.transcript(id) }
  })
  if (!folded) {
    await terminal.answer(data, () => [])
    return EXIT.fine
  }
  const { dim } = terminal.output.colour
  const id = printable(runId)
  const others = folded.otherEvents === 0 ? '' : `${plural(folded.otherEvents, 'other event')} · `
  const footer = dim(
    `${others}${terminal.next(`clew timeline ${id}`)} · ${terminal.next(`clew audit ${id}`)}`,
  )
  if (input.as !== undefined) {
    // Bare, so that it can be handed to a model as it is.
    await terminal.print([jsonText(formatChat(toChatMessages(folded), input.as), 2)])
    return EXIT.fine
  }
  switch (input.format) {
    case 'markdown':
      await terminal.print(linesOf(formatTranscriptMarkdown(folded)))
      break
    default:
      await terminal.print([...layOut(terminal, formatTranscriptText(folded)), '', footer])
  }
  return EXIT.fine
}

const linesOf = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => printable(line.replaceAll('\t', '    ')))

/** Headings stand at the edge, what was said is indented: so colours and line breaks know what is what. */
function layOut({ output, width }: Terminal, text: string): string[] {
  const { bold, dim } = output.colour
  return linesOf(text).flatMap((line, at) => {
    if (at === 0) return [bold(line)]
    if (!line.startsWith('  ')) return [dim(line)]
    const body = line.slice(2)
    const indent = /^ */.exec(body)?.[0].slice(0, 20) ?? ''
    const room = Math.max(20, Math.min(width, 110) - 2 - indent.length)
    return wrap(body.slice(indent.length), room).map((part) => `  ${indent}${part}`)
  })
}
