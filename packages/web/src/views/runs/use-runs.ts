import type { ClewEvent, RunSummary } from '@clew/ledger'
import { runPath, useClient, useFollow } from '@clew/react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTellLink } from '../../frame/link-state.ts'
import { toRequest } from './run-query.ts'

export interface Hit {
  readonly run: RunSummary
  /** Search hit in the run: a text excerpt and its seq. */
  readonly found: { readonly text: string; readonly seq: number } | null
}

interface Page {
  readonly hits: readonly Hit[]
  /** Events that a search could not take into account yet. */
  readonly lag: number
  readonly nextCursor: string | null
}

export interface Runs {
  readonly hits: readonly Hit[]
  readonly isLoading: boolean
  readonly error: unknown
  readonly hasMore: boolean
  readMore(): void
  /** Events that the search index lacks: more runs may fit. */
  readonly lag: number
  /** Runs that began since the list was drawn. */
  readonly fresh: number
  showFresh(): void
}

const AT_ONCE = 100
const GATHER_MS = 500
/** Rows that changed are read one by one; if very many did, the list is read again when the user asks. */
const MAX_SINGLE = 20

/** Runs that fit, newest first. Rows change in place; new ones wait until they are asked for, so that nothing jumps. */
export function useRuns(q: string | undefined): Runs {
  const client = useClient()
  const cache = useQueryClient()
  const request = useMemo(() => toRequest(q), [q])
  const key = ['runs', q ?? '']
  const read = async (cursor: string | undefined, signal?: AbortSignal): Promise<Page> => {
    const query = { ...request.query, limit: AT_ONCE, cursor }
    if (request.path === '/v1/runs') {
      const page = await client.get<{ runs: RunSummary[]; nextCursor: string | null }>(
        request.path,
        query,
        signal,
      )
      return { hits: page.runs.map((run) => ({ run, found: null })), lag: 0, nextCursor: page.nextCursor }
    }
    const page = await client.get<SearchPage>(request.path, query, signal)
    return { hits: page.hits.map(toHit), lag: page.lag, nextCursor: page.nextCursor }
  }
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: (before) => before,
    staleTime: 0,
  })

  const [changed, setChanged] = useState<ReadonlyMap<string, RunSummary>>(new Map())
  const [head, setHead] = useState<{ readonly q: string | undefined; readonly hits: readonly Hit[] }>({
    q,
    hits: [],
  })
  const dirty = useRef(new Set<string>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  async function lookAgain(): Promise<void> {
    timer.current = undefined
    const ids = [...dirty.current]
    dirty.current.clear()
    const first = await read(undefined)
    setHead({ q, hits: first.hits })
    const inHead = new Map(first.hits.map(({ run }) => [run.runId, run]))
    const shown = new Set(list.data?.pages.flatMap((page) => page.hits.map(({ run }) => run.runId)))
    const rest = ids.filter((id) => shown.has(id) && !inHead.has(id)).slice(0, MAX_SINGLE)
    const singles = await Promise.all(
      rest.map((id) => client.get<{ run: RunSummary }>(runPath(id), { steps: 0 })),
    )
    setChanged(
      (before) => new Map([...before, ...inHead, ...singles.map(({ run }) => [run.runId, run] as const)]),
    )
  }

  function onEvents(events: readonly ClewEvent[]): void {
    for (const { correlationId } of events) dirty.current.add(correlationId)
    // The link shows that the server is away; the next event or a reconnect reads again.
    timer.current ??= setTimeout(() => void lookAgain().catch(() => undefined), GATHER_MS)
  }

  const link = useFollow({ path: '/v1/follow', after: null, by: 'position' }, onEvents)
  useTellLink(link)
  // Between the first answer and the first line there may be events; also after the link was broken.
  useEffect(() => {
    if (link === 'live') void cache.invalidateQueries({ queryKey: ['runs'] })
  }, [link, cache])
  useEffect(() => () => clearTimeout(timer.current), [])

  const hits = useMemo(() => {
    const seen = new Set<string>()
    const rows: Hit[] = []
    for (const hit of list.data?.pages.flatMap((page) => page.hits) ?? []) {
      if (seen.has(hit.run.runId)) continue
      seen.add(hit.run.runId)
      const newer = changed.get(hit.run.runId)
      rows.push(newer && newer.events >= hit.run.events ? { ...hit, run: newer } : hit)
    }
    return rows
  }, [list.data, changed])
  const fresh = useMemo(() => {
    if (head.q !== q || !list.data) return 0
    const known = new Set(hits.map(({ run }) => run.runId))
    return head.hits.filter(({ run }) => !known.has(run.runId)).length
  }, [head, hits, q, list.data])

  return {
    hits,
    isLoading: list.isPending,
    error: list.error,
    hasMore: list.hasNextPage,
    readMore: () => void (list.hasNextPage && !list.isFetching && list.fetchNextPage()),
    lag: list.data?.pages[0]?.lag ?? 0,
    fresh,
    showFresh: () => void cache.resetQueries({ queryKey: key }),
  }
}

interface SearchPage {
  readonly lag: number
  readonly nextCursor: string | null
  readonly hits: readonly {
    readonly run: RunSummary
    readonly events: readonly { readonly seq: number; readonly highlight: { readonly text: string } | null }[]
  }[]
}

function toHit({ run, events }: SearchPage['hits'][number]): Hit {
  const best = events.find(({ highlight }) => highlight !== null)
  return { run, found: best?.highlight ? { text: best.highlight.text, seq: best.seq } : null }
}
