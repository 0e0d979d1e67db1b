import type { Ports } from '../ports.ts'
import type { SearchDocument } from './search-index.ts'

type Tag = 'workspace' | 'run' | 'type' | 'tool'

/** Immutable fields of an event are indexed as words, so that they narrow a search before any row is read. */
export interface Tags {
  of(document: Pick<SearchDocument, 'workspace' | 'runId' | 'eventType' | 'tool'>): string[]
  tag(kind: Tag, value: string): string
}

const MAX_REMEMBERED = 20_000

/** `mark` begins each tag where tags stand among the words of texts: no word begins like that. */
export function createTags(sha256: Ports['sha256'], mark = ''): Tags {
  const known = new Map<string, string>()
  function tag(kind: Tag, value: string): string {
    const key = `${kind}\n${value}`
    let made = known.get(key)
    if (made === undefined) {
      if (known.size >= MAX_REMEMBERED) known.clear()
      made = `${mark}${kind}${sha256(key).slice(0, 14)}`
      known.set(key, made)
    }
    return made
  }
  return {
    tag,
    of({ workspace, runId, eventType, tool }) {
      const short = eventType.slice(eventType.indexOf('.') + 1)
      const own = [tag('workspace', workspace), tag('run', runId), tag('type', eventType), tag('type', short)]
      return tool === null ? own : [...own, tag('tool', tool)]
    },
  }
}
