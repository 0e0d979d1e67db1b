import type { ChatMessage } from './chat-protocol.ts'
import { tellingSentences, wordsOf } from './notes.ts'
import { PUBLISHED, type ToolResult, type ToolSource } from './tools.ts'

/** Next answer of the scripted model. */
export interface Reply {
  readonly thought: string
  readonly say?: string
  readonly calls?: readonly { readonly tool: string; readonly with: Readonly<Record<string, unknown>> }[]
}

const WANTS_PUBLISHING = /\b(?:publish|post|send|share|announce)\b/i

/** Answers out of the notes, by fixed rules: the same conversation always goes on the same way. */
export function nextReply(messages: readonly ChatMessage[], mayCall = true): Reply {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const question = messages[asked]?.content ?? ''
  const words = wordsOf(question.replace(WANTS_PUBLISHING, ''))
  if (words.length === 0)
    return {
      thought: 'There is no question in this that I could look up.',
      say: 'Ask me something about owls, for example: Which owls hunt by day? Add "and publish it" and I will ask you before I do.',
    }
  const results = resultsOf(messages.slice(asked + 1))
  const searched = results.find(({ tool }) => tool === 'search_notes')?.result
  const notes = results.flatMap(({ tool, result }) => (tool === 'read_note' ? asNote(result) : []))
  const hits = searched?.sources ?? []
  if (!searched && notes.length === 0)
    return {
      thought: `The question is about ${spoken(words)}. The notes of the station may have it, so I look there before I say anything.`,
      calls: [{ tool: 'search_notes', with: { query: words.join(' ') } }],
    }
  if (hits.length === 0 && notes.length === 0)
    return {
      thought: 'No note shares a word with the question. I will not make something up.',
      say: `I looked through the notes of the station and found nothing about ${spoken(words)}.`,
    }
  if (notes.length === 0)
    return {
      thought: `${hits.length === 1 ? 'One note looks' : `${hits.length} notes look`} right. "${hits[0]?.title}" comes first; I read ${hits.length === 1 ? 'it' : 'the best two'} before I answer.`,
      calls: hits.slice(0, 2).map(({ url }) => ({ tool: 'read_note', with: { file: url } })),
    }
  const answer = answerFrom(notes, words)
  const published = results.find(({ tool }) => tool === 'publish')?.result.content
  if (mayCall && WANTS_PUBLISHING.test(question) && !published)
    return {
      thought: 'I have what I need. Publishing is seen by others, so a person has to say yes first.',
      calls: [{ tool: 'publish', with: { title: notes[0]?.title ?? 'Notes', text: answer } }],
    }
  return {
    thought: published
      ? published === PUBLISHED
        ? 'It is published. Now I answer.'
        : 'A person said no, so it stays here. The answer itself is still wanted.'
      : `The ${notes.length === 1 ? 'note answers' : 'notes answer'} it. I keep to what ${notes.length === 1 ? 'it says' : 'they say'}.`,
    say: published ? `${answer}\n\n${published === PUBLISHED ? 'Published.' : 'Not published.'}` : answer,
  }
}

interface Note {
  readonly title: string
  readonly text: string
}
const asNote = ({ content, sources }: ToolResult): Note[] =>
  (sources ?? []).slice(0, 1).map(({ title }: ToolSource) => ({ title, text: content }))

/** Results of tools since the question, by the name of the tool that was called. */
function resultsOf(messages: readonly ChatMessage[]): { tool: string; result: ToolResult }[] {
  const names = new Map(
    messages.flatMap(({ tool_calls = [] }) =>
      tool_calls.map(({ id, function: { name } }) => [id, name] as const),
    ),
  )
  return messages.flatMap(({ tool_call_id, content }) =>
    tool_call_id === undefined
      ? []
      : [{ tool: names.get(tool_call_id) ?? '', result: JSON.parse(content ?? '{}') as ToolResult }],
  )
}

function answerFrom(notes: readonly Note[], words: readonly string[]): string {
  const [first, ...others] = notes
  const lines = first ? tellingSentences(first.text, words, 3) : []
  const more = others
    .flatMap((note) => tellingSentences(note.text, words, 1))
    .filter((sentence) => wordsOf(sentence).some((word) => words.includes(word)))
  const list = notes.map(({ title }, at) => `[${at + 1}] ${title}`).join('  \n')
  return `${[...lines, ...more].join(' ')}\n\n${list}`
}

const spoken = (words: readonly string[]): string =>
  words.length === 1 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
