import { expect, it } from 'vitest'
import { matches } from './json-answer.ts'
import { choosePacking, pack } from './packed.ts'

it('A1 packs as the caller takes it', () => {
  for (const [accepted, way] of [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['GZIP', 'gzip'],
    ['*', 'gzip'],
    ['zstd;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip; q=0.000', undefined],
    ['br', undefined],
    ['', undefined],
    [null, undefined],
  ] as const)
    expect([accepted, choosePacking(accepted)]).toEqual([accepted, way])
})

it('A1 leaves alone what is short', async () => {
  const short = new Uint8Array(1000)
  expect(await pack(short, 'gzip')).toEqual({ bytes: short, headers: {} })
})

it('A1 knows a tag again, whichever way it is written', () => {
  for (const [known, isSame] of [
    ['W/"a"', true],
    ['"a"', true],
    ['"b", W/"a"', true],
    ['*', true],
    ['"ab"', false],
    [null, false],
  ] as const)
    expect([known, matches(known, 'W/"a"')]).toEqual([known, isSame])
})
