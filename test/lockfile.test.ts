import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findMissing, type Lockfile } from '../scripts/complete-lockfile.ts'

describe('the lockfile', () => {
  it('lists every optional package, so that `npm ci` takes it on every platform', () => {
    const lockfile = JSON.parse(
      readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
    ) as Lockfile
    expect(Object.keys(findMissing(lockfile))).toEqual([])
  })

  it('is completed by what the names of the packages say', () => {
    const packages = {
      'node_modules/tool': { dev: true, optionalDependencies: { '@tool/linux-x64-musl': '1.2.3' } },
    }
    expect(findMissing({ packages })).toEqual({
      'node_modules/@tool/linux-x64-musl': {
        version: '1.2.3',
        cpu: ['x64'],
        dev: true,
        libc: ['musl'],
        license: 'MIT',
        optional: true,
        os: ['linux'],
      },
    })
  })
})
