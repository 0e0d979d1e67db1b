import { expect, it } from 'vitest'
import { type FoundRecord, readRecords } from './read-records.ts'

async function read(...chunks: (string | Uint8Array)[]): Promise<unknown[]> {
  const found: FoundRecord[] = []
  for await (const record of readRecords(chunks)) found.push(record)
  return found.map((record) =>
    'value' in record ? [record.line, record.value] : [record.line, record.broken.code],
  )
}

it('A3 reads one value per line, whatever the chunks', async () => {
  expect(await read('{"a":', '1}\n\n[2', ']\n3')).toEqual([
    [1, { a: 1 }],
    [3, [2]],
    [4, 3],
  ])
})

it('A3 reads one value over many lines', async () => {
  expect(await read(`\n${JSON.stringify({ messages: [{ role: 'user' }] }, null, 2)}\n`)).toEqual([
    [2, { messages: [{ role: 'user' }] }],
  ])
  expect(await read('[\n{"a":1},\n{"a":2}\n]')).toEqual([[1, [{ a: 1 }, { a: 2 }]]])
})

it('A3 passes over a byte order mark and carriage returns', async () => {
  expect(await read(new TextEncoder().encode('\uFEFF{"a":1}\r\n{"a":2}\r\n'))).toEqual([
    [1, { a: 1 }],
    [2, { a: 2 }],
  ])
})

it('A3 reports a broken line and reads on', async () => {
  expect(await read('{"a":1}\n{"a":\n{"a":3}\n')).toEqual([
    [1, { a: 1 }],
    [2, 'broken_import'],
    [3, { a: 3 }],
  ])
  expect(await read('{"a":"cut\n{"a":2}')).toEqual([
    [1, 'broken_import'],
    [2, { a: 2 }],
  ])
  expect(await read('{\n"a": 1,\n')).toEqual([[1, 'broken_import']])
  expect(await read('')).toEqual([])
})

it('E4 refuses bytes that are not text', async () => {
  await expect(read(new Uint8Array([0x7b, 0xff, 0xfe]))).rejects.toMatchObject({ code: 'broken_import' })
})
