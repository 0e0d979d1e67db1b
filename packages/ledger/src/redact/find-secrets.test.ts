import { expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import { findSecrets } from './find-secrets.ts'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, (secret) => String(secret.length))
const find = (value: JsonValue) => findSecrets(redactor, value)
const key = `sk-ant-${'a1B2c3D4'.repeat(5)}`
const token = `ghp_${'x9Y8z7W6'.repeat(5)}`

it('P1 names every place and kind that redaction would change, and nothing of the secret', () => {
  const found = find({
    content: `use ${key} or ${token}`,
    headers: { authorization: 'Bearer abc' },
    list: [{ [key]: 1 }, 'fine', { 'odd name': `x ${token}` }],
  })
  expect(found).toEqual([
    { path: '$.content', kind: 'anthropic-key' },
    { path: '$.content', kind: 'github-token' },
    { path: '$.headers.authorization', kind: 'authorization' },
    {
      path: expect.stringMatching(/^\$\.list\[0\]\["\[redacted:anthropic-key:\d+\]"\]$/),
      kind: 'anthropic-key',
    },
    { path: '$.list[2]["odd name"]', kind: 'github-token' },
  ])
  expect(JSON.stringify(found)).not.toContain('a1B2')
})

it('P1 finds nothing in what was redacted already', () => {
  const { value } = redactor.value({ content: `use ${key}`, password: 'hunter2hunter2' })
  expect(find(value)).toEqual([])
  expect(find({ content: `[redacted:anthropic-key:1] and ${token}` })).toEqual([
    { path: '$.content', kind: 'github-token' },
  ])
})
