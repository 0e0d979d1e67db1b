import { describe, expect, it } from 'vitest'
import { readNote, searchNotes, tellingSentences, wordsOf } from './notes.ts'

describe('the notes of the demo', () => {
  it('are found by what they are about, the best first', () => {
    expect(searchNotes('hear mouse')[0]?.file).toBe('hearing.md')
    expect(searchNotes('migrate')[0]?.file).toBe('migration.md')
    const scores = searchNotes('owl hunt night', 5).map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(searchNotes('quantum chromodynamics')).toEqual([])
    expect(searchNotes('')).toEqual([])
  })

  it('are read by file name and by nothing else', () => {
    expect(readNote('hearing.md').title).toBe('How an owl hears where a mouse is')
    for (const file of ['../package.json', 'gone.md', '', '/etc/passwd', 'hearing.md\0'])
      expect(() => readNote(file)).toThrow('There is no note')
  })

  it('give the sentences that say most, in their own order', () => {
    const text = '# Title\nOwls sleep. Barn owls hear mice. Mice hide. Barn owls hear voles and mice.'
    expect(tellingSentences(text, wordsOf('barn hear mice'), 2)).toEqual([
      'Barn owls hear mice.',
      'Barn owls hear voles and mice.',
    ])
  })
})
