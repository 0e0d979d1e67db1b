import { initProject } from '../../init/init-project.ts'
import type { init } from '../../operations/init.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { printable } from '../text.ts'

/** Not `init.run`, which is handed a ledger: none is opened here. */
export const initCommand: Command<InputOf<typeof init>> = async ({ input, terminal }) => {
  const { dim } = terminal.output.colour
  const data = initProject(input.folder)
  await terminal.answer(data, () => [
    ...data.files.map(({ file, what, why }) => `${what.padEnd(8)}  ${printable(file)}  ${dim(why)}`),
    '',
    dim(`${terminal.next('clew demo --terminal')} · clew mcp`),
  ])
  return EXIT.fine
}
