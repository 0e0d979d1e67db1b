import { ClewError } from '../errors.ts'

/** Which part of a policy cannot be used, and how it should be. */
export const refused = (path: string, what: string, hint: string): ClewError =>
  new ClewError('bad_option', `The retention policy is not usable: ${path} ${what}`, hint, {
    option: 'retention',
    path,
  })
