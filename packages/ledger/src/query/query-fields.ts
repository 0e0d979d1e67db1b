interface QueryField {
  readonly about: string
  readonly example: string
  /** About single events: only `search` knows it. */
  readonly isOfEvents?: true
}

/** Fields of the query language, in the order in which they are offered. Any other name is that of a tag. */
export const QUERY_FIELDS = {
  status: { about: 'status of the run', example: 'status:failed' },
  agent: { about: 'name of its agent', example: 'agent:research' },
  since: { about: 'began since: 15m, 1h, 7d', example: 'since:1h' },
  tag: { about: 'has this tag: prod, env=prod', example: 'tag:env=prod' },
  model: { about: 'called this model', example: 'model:gpt-5*' },
  error: { about: 'its error has this text', example: 'error:"rate limit"' },
  tool: { about: 'called this tool', example: 'tool:search', isOfEvents: true },
  cost: { about: 'dollars: >0.05', example: 'cost:>0.05' },
  tokens: { about: 'tokens in and out: >10k', example: 'tokens:>10k' },
  duration: { about: 'how long it took: >30s', example: 'duration:>30s' },
  steps: { about: 'number of steps: >100', example: 'steps:>100' },
  thread: { about: 'of this thread', example: 'thread:t1' },
  type: { about: 'has such events', example: 'type:tool_call', isOfEvents: true },
  run: { about: 'id, or how it begins: demo*', example: 'run:demo*' },
  sort: { about: 'order: -tokens for most first', example: 'sort:-tokens' },
} as const satisfies Readonly<Record<string, QueryField>>

export type QueryFieldName = keyof typeof QUERY_FIELDS
export const QUERY_FIELD_NAMES = Object.keys(QUERY_FIELDS) as readonly QueryFieldName[]

export const isEventField = (name: QueryFieldName): boolean => 'isOfEvents' in QUERY_FIELDS[name]
