import { ClewError } from '@clew/ledger'
import { parseTags, tag, tagText } from '../../operations/tag.ts'
import type { Command, Flags, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { shellWord } from '../question.ts'
import { resolveRun } from '../resolve-run.ts'
import { printable } from '../text.ts'

export const tagCommand: Command<InputOf<typeof tag>> = async ({ input, flags, terminal, withLedger }) => {
  const typed = typedTags(flags['tags'])
  const set = typed.length === 0 ? undefined : parseTags(typed)
  const { runId, tags } = await withLedger(
    async (ledger) => tag.run(ledger, { ...input, set, runId: await resolveRun(ledger, input.runId) }),
    { readOnly: false, create: false },
  )
  await terminal.answer({ runId, tags }, () => [
    tagLine(tags) ?? 'The run has no tags.',
    '',
    terminal.output.colour.dim(terminal.next(`clew show ${shellWord(printable(runId))}`)),
  ])
  return EXIT.fine
}

function typedTags(flag: Flags[string]): readonly string[] {
  const texts = Array.isArray(flag) ? (flag as readonly string[]) : []
  const wrong = texts.find((text) => !tagText.safeParse(text).success)
  if (wrong === undefined) return texts
  throw new ClewError(
    'bad_option',
    `The tag ${printable(JSON.stringify(wrong.slice(0, 60)))} is not name=value`,
    'Give each tag as name=value, and names to remove with --unset; nothing was written.',
    { option: '<tags>' },
  )
}

/** All tags of a run in one line; null when there are none. */
export const tagLine = (tags: Readonly<Record<string, string>>): string | null =>
  Object.entries(tags)
    .map(([name, value]) => printable(`${name}=${value}`))
    .join(' · ') || null
