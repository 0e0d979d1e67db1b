import type { completion } from '../../operations/completion.ts'
import type { Command, InputOf } from '../command.ts'
import { completionScript } from '../../completion-script.ts'
import { EXIT } from '../failure.ts'

/** Not `completion.run`, which is handed a ledger: none is opened here. */
export const completionCommand: Command<InputOf<typeof completion>> = async ({ input, terminal }) => {
  const script = completionScript(input.shell)
  await terminal.answer({ shell: input.shell, script }, () => [script.trimEnd()])
  return EXIT.fine
}
