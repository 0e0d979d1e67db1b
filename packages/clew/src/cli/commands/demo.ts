import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { ClewError, type Ledger } from '@clew/ledger'
import { demo } from '../../operations/demo.ts'
import { sqlitePath } from '../../sqlite-path.ts'
import { type Command, type Flags, type InputOf, text } from '../command.ts'
import { EXIT } from '../failure.ts'
import { createProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { plural } from '../text.ts'

export const demoCommand: Command<InputOf<typeof demo>> = ({
  input,
  flags,
  terminal,
  storeUrl,
  withLedger,
}) =>
  withLedger(async (ledger) => {
    if (terminal.json || input.big !== undefined) await record(ledger, input, terminal)
    else if (input.fast || flags['terminal'])
      await (await import('./demo-story.ts')).tellDemo(ledger, input, terminal)
    else await chat(ledger, storeUrl, flags, terminal)
    return EXIT.fine
  })

async function record(ledger: Ledger, input: InputOf<typeof demo>, terminal: Terminal): Promise<void> {
  const progress = createProgress(terminal, 'recording', (done) => plural(done, 'step'), input.big)
  const { signal } = terminal
  const data = await demo.run(ledger, input, { signal, onProgress: progress.update }).finally(progress.end)
  await terminal.answer(data, () => [
    `${data.runId} is recorded.`,
    terminal.next(`npx clew show ${data.runId}`),
  ])
}

/** Until Ctrl-C: the agents in a process of their own, and the page to talk to them. */
async function chat(ledger: Ledger, store: string, flags: Flags, terminal: Terminal): Promise<void> {
  const path = sqlitePath(store)
  if (path === undefined)
    throw new ClewError(
      'bad_option',
      `The demo runs in two processes, which cannot share ${store}`,
      'Give it a file: clew demo --store sqlite:demo.db. Or run it in the terminal: clew demo --terminal.',
      { store },
    )
  const { signal, output } = terminal
  const [{ startDemo }, { startServer }, { operations }, { findPage }] = await Promise.all([
    import('../../demo/chat/start-demo.ts'),
    import('@clew/server'),
    import('../../operations.ts'),
    import('../../find-page.ts'),
  ])
  const page = findPage()
  const board = join(dirname(path), 'demo-board.ndjson')
  const agents = await startDemo({ ledger, store, board, isFast: process.env['CLEW_DEMO_FAST'] === '1' })
  const options = {
    ledger,
    operations: [...operations, ...agents.operations],
    controlOf: agents.controlOf,
    page,
  }
  const server = await listen(startServer, options, text(flags['port']))
  const { bold, cyan, dim } = output.colour
  const url = `${server.url}${page ? '/streams/field-notes' : ''}`
  await terminal.print([
    '',
    `  ${bold('Clew')} is at ${cyan(url)}`,
    '',
    `  ${dim('Ask something about owls. Add "and publish it" to be asked yourself. Kill the agents and watch them resume.')}`,
    `  ${dim(`Everything is recorded in ${ledger.url}. Ctrl-C ends.`)}`,
    ...(page ? [] : [`  ${dim('The page is not built: npm run build -w @clew/web')}`]),
    '',
  ])
  if (!signal.aborted) await once(signal, 'abort')
  await agents.close()
  await server.close()
}

type Start = typeof import('@clew/server').startServer

/** The well-known port; if it is taken and none was asked for, any free one. */
async function listen(
  start: Start,
  options: Parameters<Start>[0],
  port: string | undefined,
): Promise<Awaited<ReturnType<Start>>> {
  if (port !== undefined) return start({ ...options, port: Number(port) })
  try {
    return await start(options)
  } catch (error) {
    if (!(error instanceof ClewError) || !error.message.includes('is taken')) throw error
    return start({ ...options, port: 0 })
  }
}
