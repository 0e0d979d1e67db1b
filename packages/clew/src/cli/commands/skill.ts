import { skillText } from '../../mcp/skill-text.ts'
import type { skill } from '../../operations/skill.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'

export const skillCommand: Command<InputOf<typeof skill>> = async ({ terminal }) => {
  const text = skillText()
  await terminal.answer({ text }, () => [text.trimEnd()])
  return EXIT.fine
}
