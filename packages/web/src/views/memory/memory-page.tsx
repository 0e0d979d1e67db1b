import type { MemoryItem } from '@clew/ledger'
import { formatExact, JsonTree, LongText, useClient } from '@clew/react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type ReactElement, useRef, useState } from 'react'
import { useShortcut } from '../../frame/shortcuts.ts'
import { TopBar } from '../../frame/top-bar.tsx'
import { Ago } from '../../parts/ago.tsx'
import { Command, shellWord } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'

const LAYERS = { short: 'a run', session: 'a thread', long: 'workspace, agents, users' } as const
const AT_ONCE = 100

interface Page {
  readonly items: readonly MemoryItem[]
  readonly nextCursor: string | null
}

/** Memory items by layer, each with its value, its expiry and the event that wrote it. */
export function MemoryPage(): ReactElement {
  const { layer, q } = useSearch({ from: '/memory' })
  const navigate = useNavigate({ from: '/memory' })
  const client = useClient()
  const filter = useRef<HTMLInputElement>(null)
  useShortcut('filter', () => filter.current?.focus())
  const list = useInfiniteQuery({
    queryKey: ['memory', layer, q],
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      if (q === undefined)
        return client.get<Page>('/v1/memory', { layer, limit: AT_ONCE, cursor: pageParam }, signal)
      const { hits } = await client.get<{ hits: { item: MemoryItem }[] }>(
        '/v1/memory/search',
        { query: q, layer, limit: AT_ONCE },
        signal,
      )
      return { items: hits.map(({ item }) => item), nextCursor: null }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  })
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <>
      <TopBar title="Memory">
        <h1 className="crumb-here">Memory</h1>
        <search className="filter">
          <Search size={14} className="quiet" aria-hidden="true" />
          <input
            ref={filter}
            aria-label="Search memory"
            placeholder="Search memory"
            defaultValue={q ?? ''}
            key={q ?? ''}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              const words = event.currentTarget.value.trim()
              void navigate({ search: (now) => ({ ...now, q: words === '' ? undefined : words }) })
            }}
          />
        </search>
      </TopBar>
      <div className="memory-bar">
        <div className="switch" role="radiogroup" aria-label="Layer">
          {[undefined, ...(Object.keys(LAYERS) as (keyof typeof LAYERS)[])].map((each) => (
            <button
              key={each ?? 'all'}
              type="button"
              role="radio"
              aria-checked={layer === each}
              title={each === undefined ? 'every layer' : LAYERS[each]}
              onClick={() => void navigate({ search: (now) => ({ ...now, layer: each }) })}
            >
              {each ?? 'all'}
            </button>
          ))}
        </div>
        <Command
          text={
            q === undefined
              ? `clew memory list${layer === undefined ? '' : ` --layer ${layer}`}`
              : `clew memory search ${shellWord(q)}`
          }
        />
      </div>
      {list.error && <ErrorNote error={list.error} />}
      {list.data && items.length === 0 && (
        <div className="empty">
          <h2>{q === undefined ? 'There are no memory items' : 'No memory item matches'}</h2>
          <p>An agent stores an item with one call: for its run, for its thread, or for longer:</p>
          <pre>{`const likes = { likes: 'green tea' }
await run.memory.put('people', 'ann', likes, { layer: 'long' })`}</pre>
        </div>
      )}
      <div className="scroll">
        <ul className="memory">
          {items.map((item) => (
            <Item key={`${item.layer} ${item.scope} ${item.namespace} ${item.key}`} item={item} />
          ))}
        </ul>
        {list.hasNextPage && (
          <button
            type="button"
            className="button memory-more"
            disabled={list.isFetching}
            onClick={() => void list.fetchNextPage()}
          >
            More
          </button>
        )}
      </div>
    </>
  )
}

function Item({ item }: { readonly item: MemoryItem }): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const { runId } = item.provenance
  return (
    <li>
      <button type="button" className="memory-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="clew-chip">{item.layer}</span>
        <span className="quiet memory-scope">{item.scope}</span>
        <span className="memory-name">
          <b>
            {item.namespace}/{item.key}
          </b>
          {item.tags.map((tag) => (
            <span key={tag} className="quiet">
              #{tag}
            </span>
          ))}
        </span>
        <span className="quiet memory-time">
          {item.expiresAt === null ? (
            'stays'
          ) : (
            <span title={formatExact(item.expiresAt)}>
              until {item.expiresAt.slice(0, 16).replace('T', ' ')}
            </span>
          )}
        </span>
        <span className="quiet memory-time">
          <Ago at={item.updatedAt} />
        </span>
      </button>
      {isOpen && (
        <div className="memory-body">
          {typeof item.value === 'string' ? (
            <LongText text={item.value} />
          ) : (
            <JsonTree value={item.value} label="value" />
          )}
          <p className="quiet">
            version {item.version}
            {item.subjects.length > 0 && ` · about ${item.subjects.join(', ')}`}
            {runId !== null && (
              <>
                {' · written by '}
                <Link to="/runs/$runId" params={{ runId }} search={{}} className="run-link clew-mono">
                  {runId}
                </Link>
              </>
            )}
          </p>
        </div>
      )}
    </li>
  )
}
