import { expect, test } from 'vitest'
import { createRedactor } from './redact.ts'

const redactor = createRedactor({}, () => 'f')
const inPieces = (text: string): string => {
  const stream = redactor.stream()
  return Array.from(text, (char) => stream.push(char)).join('') + stream.end()
}
const bytes = Array.from({ length: 64 }, (_, at) => (at * 167 + 41) % 256)

test.each([
  ['GitHub recovery codes (each works once):\n70217-8dbaf\n6b3cf-fc5ef\n', ['70217-8dbaf', '6b3cf-fc5ef']],
  ['SAVE YOUR BACKUP CODES\n1. 6924 2915\n2. 5913 7093\n\nKeep them.', ['6924 2915', '5913 7093']],
  [
    'Private-Lines: 2\n9jpwvJF6W9Beg1SQCNqZFCjHyYpEz\nKqNB2ZewJuHhBQE4Reqv\nPrivate-MAC: 1',
    ['9jpwvJF6', 'KqNB2Zew'],
  ],
  [`[${bytes.join(',')}]`, [bytes.slice(0, 9).join(',')]],
  ['password: >-\n    pgP4ss22x\nuser: kim', ['pgP4ss22x']],
  ['# line 1 user, line 2 password\nvpn-tim\nyE2%y8VxqJ7W\n', ['yE2%y8VxqJ7W']],
  ['"type": "random_password", "attributes": { "length": 24, "result": "tD7bAZ-BcE" }', ['tD7bAZ-BcE']],
  ['I made a Gmail app password, it is "fzpy hmxy cefq wmtw".', ['fzpy hmxy']],
  ['app-specific password: fzpy-hmxy-cefq-wmtw', ['fzpy-hmxy']],
])('P1 what stands below its name: %s', (text, secrets) => {
  const out = redactor.text(text)
  for (const secret of secrets) expect(out).not.toContain(secret)
  expect(redactor.text(out)).toBe(out)
  expect(inPieces(text)).toBe(out)
})

test.each([
  'backup codes are shown once\n1. Download them\n2. Print them',
  `[${Array.from({ length: 64 }, (_, at) => at).join(', ')}]`,
  'Backup code coverage report:\nlines 81.2%\nbranches 77.0%',
  'password: >-\n  the one you chose',
])('P1 other lists stay: %s', (text) => {
  expect(redactor.text(text)).toBe(text)
})
