import { expect } from 'vitest'
import type { Redactor } from '../src/redact/redact.ts'

function streamed(redactor: Redactor, text: string): string {
  const stream = redactor.stream()
  return Array.from(text, (char) => stream.push(char)).join('') + stream.end()
}

/** Of a text whose secrets stand between `«` and `»` none is left, whole or in single characters. */
export function expectNoneLeft(redactor: Redactor, marked: string): void {
  const text = marked.replaceAll(/[«»]/g, '')
  const out = redactor.text(text)
  for (const [, secret = ''] of marked.matchAll(/«([^»]+)»/g))
    expect([out, out.includes(secret.replace(/^\*/, ''))]).toEqual([out, false])
  expect(streamed(redactor, text)).toBe(out)
}

/** An ordinary text stays as it is, whole or in single characters. */
export function expectLeft(redactor: Redactor, text: string): void {
  expect(redactor.text(text)).toBe(text)
  expect(streamed(redactor, text)).toBe(text)
}
