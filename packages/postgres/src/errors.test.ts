import { ClewError } from '@clew/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCollision, isLost, refusedBy, shownUrl, stateOf, storeError } from './errors.ts'

const URL_SHOWN = 'postgres://ann@db.example:5432/agents'
const failure = (code: string, more: object = {}, message = 'what the server says'): Error =>
  Object.assign(new Error(message), { code, ...more })
const told = (error: unknown): ClewError => storeError(URL_SHOWN, error) as ClewError

describe('L10 what went wrong with a PostgreSQL server', () => {
  it.each([
    ['28P01', 'store_refused', 'does not let this user in'],
    ['28000', 'store_refused', 'does not let this user in'],
    ['3D000', 'store_missing', 'the database does not exist'],
    ['42501', 'store_readonly', 'does not allow this to its user'],
    ['42P01', 'not_a_store', 'lacks tables of a Clew ledger'],
    ['25006', 'store_readonly', 'can only be read'],
    ['53100', 'store_full', 'has no room left'],
    ['53300', 'store_unreachable', 'has no connection left'],
    ['55P03', 'store_locked', 'is locked'],
    ['57014', 'store_failed', 'statement_timeout'],
    ['57P01', 'store_unreachable', 'starting, stopping or recovering'],
    ['57P03', 'store_unreachable', 'starting, stopping or recovering'],
    ['57P05', 'store_unreachable', 'lost or refused'],
    ['08006', 'store_unreachable', 'lost or refused'],
    ['XX001', 'store_corrupt', 'is damaged'],
    ['22003', 'store_failed', 'SQLSTATE 22003'],
    ['ECONNREFUSED', 'store_unreachable', 'lost or refused'],
    ['ENOTFOUND', 'store_unreachable', 'lost or refused'],
    ['EPIPE', 'store_unreachable', 'lost or refused'],
  ])('%s is told as %s: %s', (code, expected, words) => {
    const error = told(failure(code))
    expect([error.code, error.fields]).toEqual([expected, { url: URL_SHOWN, postgres: code }])
    expect(error.message).toContain(`The ledger ${URL_SHOWN} `)
    expect(error.message).toContain(words)
    expect(error.message.split('\n')).toHaveLength(1)
  })

  it.each([
    ['Connection terminated unexpectedly', 'store_unreachable'],
    ['timeout expired', 'store_unreachable'],
    ['timeout exceeded when trying to connect', 'store_unreachable'],
    ['Query read timeout', 'store_unreachable'],
    ['Client has encountered a connection error and is not queryable', 'store_unreachable'],
    ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'store_refused'],
    ['The server does not support SSL connections', 'store_unreachable'],
    ['self-signed certificate in certificate chain', 'store_unreachable'],
  ])('“%s”, which only the driver says, is %s', (message, expected) => {
    expect(told(new Error(message)).code).toBe(expected)
  })

  it('errors that are none of the server’s pass through', () => {
    const own = new ClewError('busy', 'Busy', 'Wait.')
    const defect = new TypeError('x is not a function')
    expect([storeError(URL_SHOWN, own), storeError(URL_SHOWN, defect), told('text')]).toEqual([
      own,
      defect,
      'text',
    ])
  })

  it('P3 the row that was refused is not in the cause', () => {
    const given = failure('23514', { detail: 'Failing row contains (my secret).', where: 'my secret' })
    const { cause } = told(given)
    expect(JSON.stringify(cause, Object.getOwnPropertyNames(cause))).not.toContain('my secret')
  })

  it('R9 what code branches on is found in the error and in what it became', () => {
    const twice = failure('23505', { constraint: 'leases_one_per_thread' })
    for (const error of [twice, told(twice)]) {
      expect([stateOf(error), refusedBy(error)]).toEqual(['23505', 'leases_one_per_thread'])
      expect([isCollision(error), isLost(error)]).toEqual([false, false])
    }
    for (const error of [failure('40P01'), told(failure('40001'))]) expect(isCollision(error)).toBe(true)
    for (const error of [failure('57P01'), told(failure('ECONNRESET'))]) expect(isLost(error)).toBe(true)
    expect(refusedBy(failure('23503'))).toBeUndefined()
  })
})

describe('P3 a URL as it is shown', () => {
  it('never holds the password, wherever it stands', () => {
    const text = fc.string({ minLength: 6, maxLength: 20 })
    fc.assert(
      fc.property(text, text, (password, other) => {
        const secret = `s3cret${password}`
        const url = `postgresql://ann:${encodeURIComponent(secret)}@db.example:5432/agents?password=${encodeURIComponent(secret)}&options=${encodeURIComponent(other)}`
        expect(shownUrl(url)).toBe('postgresql://ann@db.example:5432/agents')
      }),
    )
  })

  it.each([
    'postgres://ann:p@ss:word/x@db.example:notaport/agents',
    'mysql://ann:hunter2@db.example/agents',
    'postgres:agents',
    'ann:hunter2@db.example',
    '',
  ])('of %j, which is none, is an error that does not quote it', (url) => {
    let error: unknown
    try {
      shownUrl(url)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'bad_url', fields: {} })
    expect((error as ClewError).cause).toBeUndefined()
    expect(JSON.stringify(error)).not.toMatch(/hunter2|p@ss|db\.example/)
  })
})
