import { describe, expect, it } from 'vitest'
import type { Principal, Scope } from '../principal.ts'
import { assertOwnRun } from './own-runs.ts'

const caller = (...scopes: Scope[]): Principal => ({ id: 't', name: 't', workspace: 'default', scopes })

describe('assertOwnRun', () => {
  it.each(['clew:audit', 'clew:memory/x', 'clew:', 'clew:stream', 'clew:streams/x'])(
    'A2 keeps ordinary writers out of the system run %s',
    (runId) => {
      expect(() => assertOwnRun(caller('write', 'read', 'control'), runId)).toThrow(
        expect.objectContaining({ code: 'forbidden' }),
      )
      expect(() => assertOwnRun(caller('admin'), runId)).not.toThrow()
    },
  )

  it.each(['run-1', 'clew', 'Clew:audit', 'clew:stream/general', undefined, 7])(
    'A2 lets %s pass',
    (runId) => {
      expect(() => assertOwnRun(caller('write'), runId)).not.toThrow()
    },
  )
})
