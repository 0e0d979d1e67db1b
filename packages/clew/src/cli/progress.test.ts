import { expect, it } from 'vitest'
import { createProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

function terminal(isTerminal: boolean, signal = new AbortController().signal) {
  const written: string[] = []
  const stream = { write: (text: string) => written.push(text) > 0 }
  const errors = { stream, isTerminal, colour: { dim: (text: string) => text } }
  return { written, parts: { errors, signal } as unknown as Pick<Terminal, 'errors' | 'signal'> }
}

it('P4 progress is a bar for people at a terminal, gone at the end, and nothing elsewhere', () => {
  const { written, parts } = terminal(true)
  const progress = createProgress(parts, 'letting go', (done) => `${done} events`, 200)
  progress.update(100)
  progress.update(101)
  progress.end()
  expect(written).toHaveLength(2)
  expect(written[0]).toMatch(/letting go ━{24} {2}50 % {2}100 events$/)
  expect(written[1]).toBe('\r\x1b[2K')
  const piped = terminal(false)
  const silent = createProgress(piped.parts, 'letting go', String, 200)
  silent.update(100)
  silent.end()
  expect(piped.written).toEqual([])
})

it('P4 progress ends the work of somebody who asked to stop', () => {
  const stop = new AbortController()
  const progress = createProgress(terminal(true, stop.signal).parts, 'letting go', String, 200)
  stop.abort(new Error('stopped'))
  expect(() => progress.update(1)).toThrow('stopped')
})
