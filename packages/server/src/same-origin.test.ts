import { expect, it } from 'vitest'
import { assertSameOrigin } from './same-origin.ts'

const call = (headers: Record<string, string>, method = 'GET') => {
  const caller = { method, header: (name: string): string | undefined => headers[name] }
  try {
    assertSameOrigin(caller, 'https://app.example.org')
    return 'let in'
  } catch (error) {
    return (error as { fields: { header: string } }).fields.header
  }
}

it('A2 programs on this machine are let in, by any name it has', () => {
  for (const host of [
    'localhost:2539',
    '127.0.0.1:2539',
    '127.0.0.2',
    '[::1]:2539',
    'clew.localhost:1',
    'LOCALHOST',
  ])
    expect([host, call({ host })]).toEqual([host, 'let in'])
})

it('A2 a name that somebody made point here is refused (rebinding)', () => {
  for (const host of [
    'evil.example:2539',
    'localhost.evil.example',
    '127.0.0.1.evil.example:2539',
    'notlocalhost',
    '192.168.1.2:2539',
    '0.0.0.0:2539',
    'localhost@evil.example',
    'a b.localhost',
    '',
  ])
    expect([host, call({ host })]).toEqual([host, 'host'])
  expect(call({})).toBe('host')
})

it('A2 a page of another origin is refused, also one of another port of this machine', () => {
  const host = 'localhost:2539'
  expect(call({ host, origin: 'http://localhost:2539' })).toBe('let in')
  expect(call({ host, origin: 'https://app.example.org' })).toBe('let in')
  for (const origin of [
    'https://evil.example',
    'http://localhost:3000',
    'http://127.0.0.1:2539',
    'https://localhost:2539',
    'https://app.example.org.evil.example',
    'null',
    '',
  ])
    for (const method of ['GET', 'POST'])
      expect([origin, method, call({ host, origin }, method)]).toEqual([origin, method, 'origin'])
})

it('A2 what another site embeds is refused; a link that somebody follows is not', () => {
  const host = 'localhost:2539'
  for (const site of ['cross-site', 'same-site']) {
    expect(
      call({ host, 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }),
    ).toBe('sec-fetch-site')
    const visit = { host, 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect(call(visit)).toBe('let in')
    expect(call(visit, 'POST')).toBe('sec-fetch-site')
    expect(call({ ...visit, 'sec-fetch-dest': 'iframe' })).toBe('sec-fetch-site')
  }
  for (const site of ['same-origin', 'none']) expect(call({ host, 'sec-fetch-site': site })).toBe('let in')
})
