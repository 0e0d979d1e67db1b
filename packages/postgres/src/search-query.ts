import {
  type FindOptions,
  isAboutEvents,
  type Phrase,
  SEARCH_FIELDS,
  type SearchDocument,
  type Tags,
  type ValueFilter,
} from '@clew/ledger'
import { indexText } from './index-text.ts'
import { type IndexedWords, quoted, wordsVector } from './words-vector.ts'

/** Labels of the fields, in the order of their weight. */
const LABELS = ['A', 'B', 'C', 'D'] as const

export const indexWords = (document: SearchDocument, tags: Tags): IndexedWords =>
  wordsVector(
    SEARCH_FIELDS.map(
      (field, at) => [LABELS[at] as (typeof LABELS)[number], document.fields[field]] as const,
    ),
    tags.of(document),
  )

/** A text without what PostgreSQL cannot keep. */
export const shown = (text: string): string => text.replaceAll('\u0000', '\ufffd').toWellFormed()

const lexeme = (token: string, prefix: boolean): string => `${quoted(token)}${prefix ? ':*' : ''}`
const lexemes = ({ tokens, prefix }: Phrase): string[] =>
  tokens.map((token, at) => lexeme(token, prefix && at === tokens.length - 1))

/** All its words, wherever they stand: what ranks a match, and what narrows down a phrase. */
const wordsText = (phrases: readonly Phrase[]): string => phrases.flatMap(lexemes).join(' & ')
const phraseText = (phrase: Phrase): string => `(${lexemes(phrase).join(' <-> ')})`
/** How a phrase shows in `texts`. */
const phraseInText = ({ tokens, prefix }: Phrase): string => ` ${tokens.join(' ')}${prefix ? '' : ' '}`

/** One condition on tags. */
interface TagFilter {
  readonly tags: readonly string[]
  readonly negated: boolean
}

const tagsText = ({ tags }: TagFilter): string => `(${tags.map(quoted).join(' | ')})`

/** Beginnings of tool names become the tags of the tools that there are; none of them fits when there is none. */
export function toolFilters(
  { query }: FindOptions,
  tags: Tags,
  tagsOf: (beginning: string) => Promise<string[]>,
): Promise<TagFilter[]> {
  return Promise.all(
    query.tool.map(async ({ values, negated }) => {
      const found: string[] = []
      for (const { text, prefix } of values)
        found.push(...(prefix ? await tagsOf(text) : [tags.tag('tool', text)]))
      return { tags: found.length === 0 ? ['#none'] : found, negated }
    }),
  )
}

/** Filters whose values are whole, and so stand in the index as tags. */
function wholeFilters({ query }: FindOptions, tags: Tags): TagFilter[] {
  const of = (kind: 'type' | 'run'): TagFilter[] =>
    query[kind]
      .filter(({ values }) => !values.some(({ prefix }) => prefix))
      .map(({ values, negated }) => ({ tags: values.map(({ text }) => tags.tag(kind, text)), negated }))
  return [...of('type'), ...of('run')]
}

/** The summary without escapes of NUL and halves of surrogate pairs, for which PostgreSQL refuses to read JSON. */
const SUMMARY = String.raw`regexp_replace(r.summary, '(\\\\)|\\u(0000|d[89a-f]..)', '\1', 'g')::json`

export interface Compiled {
  readonly text: string
  readonly values: unknown[]
}

/** A query as SQL; newest first. */
export function compileSearch(wanted: FindOptions, tags: Tags, tools: readonly TagFilter[]): Compiled {
  const { workspace, query, upTo, after = 0, runId, limit } = wanted
  const aboutEvents = isAboutEvents(query)
  const where: string[] = []
  const values: unknown[] = []
  const put = (value: unknown): string => `$${values.push(value)}`
  if (aboutEvents) addWords(wanted, tags, [...wholeFilters(wanted, tags), ...tools], where, put)
  const position = aboutEvents ? 'w.position' : 'e.position'
  where.push(`${position} <= ${put(upTo)}`, `${position} > ${put(after)}`, `r.workspace = ${put(workspace)}`)
  if (runId !== undefined) where.push(`r.run_id = ${put(runId)}`)
  if (query.since !== null) where.push(`${aboutEvents ? 'e' : 'r'}.recorded_at >= ${put(query.since)}`)
  const columns = { type: 'e.event_type', run: 'r.run_id', agent: 'r.agent', thread: 'r.thread_id' }
  for (const [field, column] of Object.entries(columns))
    for (const filter of query[field as keyof typeof columns])
      where.push(valuesText(column, filter, field === 'type', put))
  for (const { values: statuses, negated } of query.status)
    where.push(`${negated ? 'NOT ' : ''}r.status = ANY (${put(statuses)}::text[])`)
  for (const { op, amount, negated } of query.cost) {
    const cost = `(${SUMMARY} ->> 'cost')::float8`
    where.push(`${cost} IS NOT NULL`, `${negated ? 'NOT ' : ''}${cost} ${op} ${put(amount)}::float8`)
  }
  const relevance =
    aboutEvents && limit > 1 && query.all.length > 0
      ? `ts_rank('{0.25, 0.5, 1, 1}', w.words, ${put(wordsText(query.all))}::tsquery, 1)`
      : '0'
  const from = aboutEvents
    ? 'search_words w JOIN events e ON e.position = w.position JOIN runs r ON r.id = e.run'
    : 'runs r JOIN events e ON e.run = r.id AND e.seq = coalesce(r.fork_seq, 0) + 1'
  return {
    text: `SELECT e.position, r.run_id, e.seq, e.recorded_at, ${relevance} AS relevance FROM ${from}
      WHERE ${where.join(' AND ')} ORDER BY ${aboutEvents ? 'w.position' : 'r.id'} DESC LIMIT ${put(limit)}`,
    values,
  }
}

function addWords(
  { workspace, query, runId }: FindOptions,
  tags: Tags,
  filters: readonly TagFilter[],
  where: string[],
  put: (value: unknown) => string,
): void {
  const wanted = [quoted(tags.tag('workspace', workspace))]
  if (runId !== undefined) wanted.push(quoted(tags.tag('run', runId)))
  for (const filter of filters) wanted.push(`${filter.negated ? '!' : ''}${tagsText(filter)}`)
  for (const phrase of query.all) wanted.push(...lexemes(phrase))
  where.push(`w.words @@ ${put(wanted.join(' & '))}::tsquery`)
  const has = (phrase: Phrase): string => {
    const found = `w.words @@ ${put(phraseText(phrase))}::tsquery`
    if (phrase.tokens.length === 1) return found
    return `(${found} OR coalesce(strpos(w.texts, ${put(phraseInText(phrase))}), 0) > 0)`
  }
  for (const phrase of query.all) if (phrase.tokens.length > 1) where.push(has(phrase))
  for (const phrase of query.none) where.push(`NOT ${has(phrase)}`)
  // The words of an event leave the index after its payload, and must not be found until then.
  if (query.all.length + query.tool.length > 0)
    where.push('EXISTS (SELECT FROM payloads p WHERE p.position = w.position)')
}

/** Also where tags have decided already: a tag is a digest, and this is the value itself. */
function valuesText(
  column: string,
  { values, negated }: ValueFilter,
  withShort: boolean,
  put: (value: unknown) => string,
): string {
  const columns = withShort ? [column, `substr(${column}, strpos(${column}, '.') + 1)`] : [column]
  const any = values
    .flatMap(({ text, prefix }) =>
      columns.map((each) =>
        prefix ? `starts_with(${each}, ${put(shown(text))})` : `${each} = ${put(indexText(text))}`,
      ),
    )
    .join(' OR ')
  return negated ? `NOT coalesce((${any}), false)` : `(${any})`
}
