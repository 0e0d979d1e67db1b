import { ClewError, type LedgerMode } from '@clew/ledger'

const SWITCHES = ['write', 'resume', 'replay'] as const

/** R11: `read` switches everything off, a list such as `write,resume` everything that it leaves out; empty: all is on. */
export function readMode(text: string | undefined, option = 'CLEW_MODE'): LedgerMode {
  const words = (text ?? '')
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')
  const unknown = words.find((word) => word !== 'read' && !SWITCHES.some((each) => each === word))
  if (unknown !== undefined)
    throw new ClewError(
      'bad_option',
      `${option} names ${JSON.stringify(unknown.slice(0, 40))}, which is no switch`,
      'Use read, or a list of write, resume and replay; leave it empty to switch all of them on.',
      { option },
    )
  const has = (word: (typeof SWITCHES)[number]): boolean => words.length === 0 || words.includes(word)
  return { write: has('write'), resume: has('resume'), replay: has('replay') }
}
