import type { StepSource } from './session-trace.ts'

const SNIPPET = 240

interface Found {
  readonly pageContent: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Documents as sources (T6): where they came from and how they begin. */
export const toSources = (documents: readonly Found[]): StepSource[] => documents.map(toSource)

function toSource({ pageContent, metadata }: Found): StepSource {
  const text = (...names: string[]): string | null => {
    const found = names
      .map((name) => metadata[name])
      .find((value) => typeof value === 'string' && value !== '')
    return typeof found === 'string' ? found : null
  }
  const place = text('url', 'source', 'link')
  const url = place !== null && URL.canParse(place) ? place : null
  return {
    type: url === null ? 'document' : 'web',
    title: text('title', 'name') ?? (url === null ? place : null),
    url,
    domain: url === null ? null : new URL(url).hostname || null,
    snippet: pageContent === '' ? null : pageContent.slice(0, SNIPPET),
  }
}
