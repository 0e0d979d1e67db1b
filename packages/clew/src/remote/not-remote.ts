import { ClewError } from '@clew/ledger'

export const isServerUrl = (url: string): boolean => /^https?:\/\//.test(url)

/** What needs the store itself. */
export const notRemote = (what: string, url: string): ClewError =>
  new ClewError(
    'bad_option',
    `${what} cannot be done through the server ${url}`,
    'Do it where the store can be reached, with sqlite:PATH or postgres://… in place of the address of the server.',
    { option: '--store' },
  )
