import type { z } from 'zod'
import { serve } from '../../operations/serve.ts'
import { agentsOf } from '../agent-flag.ts'
import { readMode } from '../../read-mode.ts'
import { type Command, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { writeLines } from '../lines.ts'
import type { Terminal } from '../terminal.ts'
import { jsonText, printable } from '../text.ts'

export const serveCommand: Command<InputOf<typeof serve>> = async ({
  input,
  flags,
  terminal,
  withLedger,
}) => {
  const works = flags['worker'] !== undefined
  const agents = await agentsOf(works ? { agent: flags['worker'] } : flags)
  const mode = text(flags['mode'])
  return withLedger(
    async (ledger) => {
      const { signal } = terminal
      signal.addEventListener('abort', () => {
        // A second signal exits immediately.
        for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(130))
      })
      const format = (item: Item): string =>
        `${terminal.json ? jsonText(item) : lines(terminal, item, ledger.url)}\n`
      await writeLines(terminal, serve.run(ledger, { ...input, works }, { agents, signal }), format, true)
      return EXIT.fine
    },
    { create: true, index: true, ...(mode !== undefined && { mode: readMode(mode, '--mode') }) },
  )
}

type Item = z.output<typeof serve.output>

function lines({ output: { colour } }: Terminal, item: Item, store: string): string {
  if (item.type === 'closed') return colour.dim('closed')
  const agents = item.agents.length > 0 ? ` · resumes runs of ${printable(item.agents.join(', '))}` : ''
  const page = item.page ? '' : ' · the page is not built: npm run build -w @clew/web'
  return [
    `${colour.bold('Clew')} serves ${store} at ${colour.cyan(item.url)}`,
    colour.dim(`${item.url}/docs lists the routes${agents}${page} · Ctrl-C ends`),
  ].join('\n')
}
