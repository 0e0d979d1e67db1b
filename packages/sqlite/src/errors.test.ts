import { ClewError } from '@clew/ledger'
import { describe, expect, it } from 'vitest'
import { storeError } from './errors.ts'

const sqlite = (errcode: number): Error =>
  Object.assign(new Error('what SQLite says'), { code: 'ERR_SQLITE_ERROR', errcode })
const system = (code: string): Error => Object.assign(new Error(`${code}: what the system says`), { code })
const told = (error: Error, asked?: string): ClewError =>
  storeError('sqlite:x.db', error, '/nowhere/x.db', () => asked) as ClewError

const READ_ONLY_DISK = [
  'store_readonly',
  'lies on a file system that can only be read',
  'Mount it for writing',
]
const TOO_MANY_FILES = ['store_failed', 'needs another file, and too many files are open', 'ulimit -n']
const FULL = ['store_full', 'has no room left', 'Free some disk space']
const NO_RIGHT = ['store_readonly', 'cannot be written', 'write permission']

describe('L5 what went wrong with a SQLite file', () => {
  it.each([
    ['SQLITE_READONLY', 8, undefined, NO_RIGHT],
    ['SQLITE_READONLY_CANTLOCK', 520, undefined, NO_RIGHT],
    ['SQLITE_READONLY_CANTINIT', 1288, undefined, NO_RIGHT],
    ['SQLITE_READONLY_DIRECTORY', 1544, undefined, NO_RIGHT],
    ['SQLITE_READONLY on a disk that can only be read', 8, 'EROFS', READ_ONLY_DISK],
    ['SQLITE_CANTOPEN', 14, undefined, ['store_missing', 'cannot be opened', 'folder exists']],
    ['SQLITE_CANTOPEN on a disk that can only be read', 14, 'EROFS', READ_ONLY_DISK],
    ['SQLITE_CANTOPEN of a process with too many open files', 14, 'EMFILE', TOO_MANY_FILES],
    ['SQLITE_CANTOPEN on a system with too many open files', 14, 'ENFILE', TOO_MANY_FILES],
    ['SQLITE_IOERR', 10, undefined, ['store_failed', 'met a disk error', 'Look at the disk']],
    ['SQLITE_IOERR_WRITE on a disk that became read-only', 778, 'EROFS', READ_ONLY_DISK],
    ['SQLITE_FULL', 13, undefined, FULL],
    ['a result that is not in the list', 21, undefined, ['store_failed', 'could not be used', 'cause']],
  ])('%s', (_, errcode, asked, [code, what, hint]) => {
    const error = sqlite(errcode)
    const found = told(error, asked)
    expect(found).toMatchObject({ code, hint: expect.stringContaining(hint ?? ''), cause: error })
    expect(found.message).toContain(`The ledger sqlite:x.db ${what}`)
    expect(found.fields).toEqual({ url: 'sqlite:x.db', sqlite: errcode & 255, system: asked })
  })

  it.each([
    ['EROFS', undefined, READ_ONLY_DISK],
    ['EMFILE', undefined, TOO_MANY_FILES],
    ['ENFILE', undefined, TOO_MANY_FILES],
    ['ENOSPC', undefined, FULL],
    ['EDQUOT', undefined, FULL],
    ['EACCES', undefined, ['store_missing', 'cannot be opened', 'this user may use it']],
    // A missing folder on such a disk is told as ENOENT by `mkdir`.
    ['ENOENT', 'EROFS', READ_ONLY_DISK],
  ])('%s while a file is made beside SQLite', (name, asked, [code, what, hint]) => {
    const found = told(system(name), asked)
    expect(found).toMatchObject({ code, hint: expect.stringContaining(hint ?? '') })
    expect(found.message).toContain(`The ledger sqlite:x.db ${what}`)
    expect(found.fields).toEqual({ url: 'sqlite:x.db', sqlite: undefined, system: asked ?? name })
  })

  it('leaves other errors and errors of Clew as they are', () => {
    for (const error of [
      new TypeError('a defect'),
      system('ERR_INVALID_ARG_TYPE'),
      new ClewError('closed', 'a', 'b'),
    ])
      expect(told(error, 'EMFILE')).toBe(error)
  })
})
