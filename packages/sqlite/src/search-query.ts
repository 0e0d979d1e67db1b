import type { SQLInputValue } from 'node:sqlite'
import {
  type FindOptions,
  isAboutEvents,
  type Phrase,
  SEARCH_FIELDS,
  type Tags,
  type ValueFilter,
} from '@clew/ledger'

const TEXTS = `{${SEARCH_FIELDS.join(' ')}}`

/** Words hold letters and digits only, so nothing in them can end a quotation. */
const phraseText = ({ tokens, prefix }: Phrase): string =>
  `${TEXTS} : "${tokens.join(' ')}"${prefix ? ' *' : ''}`
export const phrasesText = (phrases: readonly Phrase[]): string => phrases.map(phraseText).join(' AND ')

/** Values of a filter that are whole, as one condition on tags; undefined when one of them is only a beginning. */
function tagsText(tags: Tags, kind: 'type' | 'tool' | 'run', { values }: ValueFilter): string | undefined {
  if (values.some((value) => value.prefix)) return undefined
  return `(${values.map(({ text }) => `tags : ${tags.tag(kind, text)}`).join(' OR ')})`
}

function matchText({ workspace, query, runId }: FindOptions, tags: Tags): string {
  const wanted = [`tags : ${tags.tag('workspace', workspace)}`, ...query.all.map(phraseText)]
  const unwanted = query.none.map(phraseText)
  if (runId !== undefined) wanted.push(`tags : ${tags.tag('run', runId)}`)
  for (const kind of ['type', 'tool', 'run'] as const)
    for (const filter of query[kind]) {
      const text = tagsText(tags, kind, filter)
      if (text !== undefined) (filter.negated ? unwanted : wanted).push(text)
    }
  const all = `(${wanted.join(' AND ')})`
  return unwanted.length === 0 ? all : `${all} NOT (${unwanted.join(' OR ')})`
}

/** Beginnings of tool names become the names that there are; none of them fits when there is none. */
export function expandTools(wanted: FindOptions, namesOf: (beginning: string) => string[]): FindOptions {
  const expand = ({ values, negated }: ValueFilter): ValueFilter => {
    const texts = values.flatMap(({ text, prefix }) => (prefix ? namesOf(text) : [text]))
    const whole = (texts.length === 0 ? [''] : texts).map((text) => ({ text, prefix: false }))
    return { values: whole, negated }
  }
  return { ...wanted, query: { ...wanted.query, tool: wanted.query.tool.map(expand) } }
}

export interface Compiled {
  readonly sql: string
  readonly values: SQLInputValue[]
}

/** A query as SQL over the index and the ledger attached to it; newest first. */
export function compileSearch(wanted: FindOptions, tags: Tags): Compiled {
  const { workspace, query, upTo, after = 0, runId, limit } = wanted
  const aboutEvents = isAboutEvents(query)
  const where: string[] = []
  const values: SQLInputValue[] = []
  const add = (condition: string, ...given: SQLInputValue[]): void => {
    where.push(condition)
    values.push(...given)
  }
  if (aboutEvents) add('w.words MATCH ?', matchText(wanted, tags))
  add(aboutEvents ? 'w.rowid <= ? AND w.rowid > ?' : 'e.position <= ? AND e.position > ?', upTo, after)
  // The words of an event leave the index after its payload, and must not be found until then.
  if (query.all.length + query.tool.length > 0)
    add('EXISTS (SELECT 1 FROM ledger.payloads p WHERE p.position = w.rowid)')
  add('r.workspace = ?', workspace)
  if (runId !== undefined) add('r.run_id = ?', runId)
  if (query.since !== null) add(`${aboutEvents ? 'e' : 'r'}.recorded_at >= ?`, query.since)
  const columns = { type: 'e.event_type', run: 'r.run_id', agent: 'r.agent', thread: 'r.thread_id' }
  for (const [field, column] of Object.entries(columns))
    for (const filter of query[field as keyof typeof columns])
      addValues(add, column, filter, field === 'type')
  for (const { values: statuses, negated } of query.status)
    add(`r.status ${negated ? 'NOT ' : ''}IN (SELECT value FROM json_each(?))`, JSON.stringify(statuses))
  for (const { op, amount, negated } of query.cost) {
    const cost = `json_extract(r.summary, '$.cost')`
    add(`${cost} IS NOT NULL AND ${negated ? 'NOT ' : ''}${cost} ${op} ?`, amount)
  }
  const from = aboutEvents
    ? `words w CROSS JOIN ledger.events e ON e.position = w.rowid CROSS JOIN ledger.runs r ON r.id = e.run`
    : 'ledger.runs r CROSS JOIN ledger.events e ON e.run = r.id AND e.seq = coalesce(r.fork_seq, 0) + 1'
  return {
    sql: `SELECT e.position, r.run_id, e.seq, e.recorded_at FROM ${from} WHERE ${where.join(' AND ')}
      ORDER BY ${aboutEvents ? 'w.rowid' : 'r.id'} DESC LIMIT ?`,
    values: [...values, limit],
  }
}

/** Also where tags have decided already: a tag is a digest, and this is the value itself. */
function addValues(
  add: (condition: string, ...given: SQLInputValue[]) => void,
  column: string,
  { values, negated }: ValueFilter,
  withShort: boolean,
): void {
  const conditions: string[] = []
  const given: SQLInputValue[] = []
  const columns = withShort ? [column, `substr(${column}, instr(${column}, '.') + 1)`] : [column]
  for (const { text, prefix } of values)
    for (const each of columns) {
      conditions.push(prefix ? `substr(${each}, 1, ?) = ?` : `${each} = ?`)
      given.push(...(prefix ? [[...text].length, text] : [text]))
    }
  const any = conditions.join(' OR ')
  add(negated ? `NOT coalesce((${any}), 0)` : `(${any})`, ...given)
}
