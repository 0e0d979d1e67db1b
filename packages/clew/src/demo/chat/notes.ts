import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../own-files.ts'

/** Files that the demo's agents search. */
const NOTES_FOLDER = fileURLToPath(packageFile('notes/'))

export interface Note {
  readonly file: string
  readonly title: string
  readonly text: string
}

interface NoteHit {
  readonly file: string
  readonly title: string
  readonly snippet: string
  readonly score: number
}

export function readNote(file: string): Note {
  if (!/^[\w-]+\.md$/.test(file) || !readdirSync(NOTES_FOLDER).includes(file))
    throw Object.assign(new Error(`There is no note ${file}`), { name: 'NoteNotFound' })
  const text = readFileSync(join(NOTES_FOLDER, file), 'utf8')
  return { file, title: /^# (.*)/.exec(text)?.[1] ?? file, text }
}

/** Ranked by how rare the words are that a note shares with the query (BM25). */
export function searchNotes(query: string, most = 3): NoteHit[] {
  const notes = readdirSync(NOTES_FOLDER)
    .filter((file) => file.endsWith('.md'))
    .map(readNote)
  const words = notes.map(({ text }) => wordsOf(text))
  const average = words.reduce((sum, { length }) => sum + length, 0) / notes.length
  const wanted = [...new Set(wordsOf(query))]
  const rarity = new Map(
    wanted.map((word) => {
      const having = words.filter((each) => each.includes(word)).length
      return [word, Math.log(1 + (notes.length - having + 0.5) / (having + 0.5))]
    }),
  )
  const scoreOf = (own: readonly string[]): number =>
    wanted.reduce((score, word) => {
      const often = own.filter((each) => each === word).length
      const weight = (often * 2.2) / (often + 1.2 * (0.25 + (0.75 * own.length) / average))
      return score + (rarity.get(word) ?? 0) * weight
    }, 0)
  return notes
    .map(({ file, title, text }, i) => ({
      file,
      title,
      snippet: bestSentence(text, wanted),
      score: Number(scoreOf(words[i] ?? []).toFixed(3)),
    }))
    .filter(({ score }) => score > 0.3)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, most)
}

/** The sentences of a note that have most in common with the words, in their own order. */
export function tellingSentences(text: string, wanted: readonly string[], most: number): string[] {
  const sentences = sentencesOf(text)
  const best = new Set(
    sentences
      .map((sentence, at) => ({ at, shared: sharedWords(sentence, wanted) }))
      .toSorted((a, b) => b.shared - a.shared || a.at - b.at)
      .slice(0, most)
      .map(({ at }) => at),
  )
  return sentences.filter((_, at) => best.has(at))
}

const bestSentence = (text: string, wanted: readonly string[]): string =>
  tellingSentences(text, wanted, 1)[0] ?? ''

const sentencesOf = (text: string): string[] =>
  text
    .replace(/^#.*$/m, '')
    .split(/(?<=[.!?])\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')

const sharedWords = (sentence: string, wanted: readonly string[]): number =>
  new Set(wordsOf(sentence).filter((word) => wanted.includes(word))).size

const COMMON = new Set(
  'a an and any are as at be been but by can do does for from had has have he hello her hey hi him his how i if in into is it its me my of on or our please she should so than that the their them then there they this to was we what when where which who whose why will with would you your about tell'.split(
    ' ',
  ),
)

/** Words without endings that make no difference here. */
export const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => !COMMON.has(word))
    .map((word) => word.replace(/(?:ies|es|s|ing|ed|ly)$/, ''))
    .filter((word) => word.length > 1)
