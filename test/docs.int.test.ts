import { describe, expect, it } from 'vitest'
import { readGuide } from './docs/pages.ts'
import { runSnippet } from './docs/run-snippet.ts'
import { findSnippets } from './docs/snippets.ts'

describe('snippets in README.md and docs/guide run', () => {
  const runnable = findSnippets(readGuide()).filter((snippet) => snippet.skipped === undefined)

  it('and there are some', () => {
    expect(runnable.map((snippet) => snippet.where)).not.toEqual([])
  })

  it.each(runnable)('$where', async (snippet) => {
    const { exitCode, output } = await runSnippet(snippet)
    expect(exitCode, output).toBe(0)
  })
})

describe('planted snippets that do not work are found', () => {
  it.each([
    ["import { noSuchThing } from 'clew'\nnoSuchThing()", 'noSuchThing'],
    ["import 'clew'\nthrow new Error('planted')", 'planted'],
    ["import 'clew'\nawait new Promise(() => {})", 'unsettled top-level await'],
  ])('%s', async (text, message) => {
    const { exitCode, output } = await runSnippet({ where: `planted-${message}`, text })
    expect(exitCode).not.toBe(0)
    expect(output).toContain(message)
  })
})
