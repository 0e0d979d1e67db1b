import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readNote, searchNotes } from './notes.ts'

const text = (about: string): object => ({ type: 'string', description: about })
const describe = (
  name: string,
  description: string,
  properties: Readonly<Record<string, object>>,
): object => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties, required: Object.keys(properties) },
  },
})

/** Tool definitions that a model receives. */
export const TOOLS: readonly object[] = [
  describe('search_notes', 'Search the notes of the owl station', { query: text('words to look for') }),
  describe('read_note', 'Read one note', { file: text('its file name, as a search gave it') }),
  describe('publish', 'Publish a text to the board of the station. A person is asked first.', {
    title: text('a short title'),
    text: text('what to publish'),
  }),
]

export const PUBLISHED = 'It is published.'
export const STOPPED = 'A person stopped the run before this was done.'
export const NOT_PUBLISHED = 'A person said no: it is not published.'

/** Long enough to be seen. */
const TAKES_MS: Readonly<Record<string, number>> = { search_notes: 500, read_note: 700, publish: 400 }

interface Place {
  /** File of published texts, one line each. */
  readonly board: string
  readonly isFast: boolean
}

/** Result of a tool, as the model receives it and as a page shows it. */
export interface ToolResult {
  readonly content: string
  readonly sources?: readonly ToolSource[]
}

export interface ToolSource {
  readonly type: 'note'
  readonly title: string
  /** Its file: what `read_note` wants. */
  readonly url: string
  readonly snippet?: string
}

/** Does what a model asked for: over real files. */
export async function useTool(
  name: string,
  given: Readonly<Record<string, unknown>>,
  place: Place,
): Promise<ToolResult> {
  if (!place.isFast) await sleep(TAKES_MS[name] ?? 0)
  const field = (key: string): string => {
    const value = given[key]
    return typeof value === 'string' ? value : ''
  }
  if (name === 'search_notes') {
    const hits = searchNotes(field('query'))
    return {
      content:
        hits.length === 0 ? 'Nothing was found.' : `${hits.length} of the notes fit "${field('query')}".`,
      sources: hits.map(({ file, title, snippet }) => ({ type: 'note', title, url: file, snippet })),
    }
  }
  if (name === 'read_note') {
    const { file, title, text: content } = readNote(field('file'))
    return { content, sources: [{ type: 'note', title, url: file }] }
  }
  if (name === 'publish') {
    appendFileSync(place.board, `${JSON.stringify({ title: field('title'), text: field('text') })}\n`)
    return { content: PUBLISHED }
  }
  throw Object.assign(new Error(`There is no tool ${name}`), { name: 'UnknownTool' })
}
