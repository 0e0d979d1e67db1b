import { formatAgo, type Client, shortenId, StatusMark, useClient } from '@clew/react'
import type { RunSummary } from '@clew/ledger'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { StreamView } from '@clew/trace'
import { Command, defaultFilter } from 'cmdk'
import { MessagesSquare } from 'lucide-react'
import { type ReactElement, useDeferredValue, useEffect, useRef, useState } from 'react'
import { nameOfTab, readRunSearch, RUN_TABS } from '../url.ts'
import { STREAMS_PATH } from '../views/streams/paths.ts'
import { PLACES } from './places.ts'
import { isHeard, keysOf, SHORTCUTS, type ShortcutName, tellShortcut } from './shortcuts.ts'

interface Hits {
  readonly hits: readonly { readonly run: RunSummary }[]
}

async function findRuns(client: Client, words: string, signal: AbortSignal): Promise<readonly RunSummary[]> {
  if (words === '') return (await client.get<{ runs: RunSummary[] }>('/v1/runs', { limit: 6 }, signal)).runs
  const { hits } = await client.get<Hits>('/v1/search', { query: words, limit: 6 }, signal)
  return hits.map(({ run }) => run)
}

/** Keys that belong to rows and cursors are of no use in a list of commands. */
const COMMANDS = (Object.keys(SHORTCUTS) as ShortcutName[]).filter(
  (name) => !/^(?:palette|down|up|open|go[A-Z]|unselect)/.test(name),
)

/** What is named so comes first, then runs in which the words were found, in the order of the search. */
const rank = (name: string, words: string, found?: string[]): number =>
  Math.max(defaultFilter(name, words), found?.includes(words.trim()) ? 0.01 : 0)

export function Palette({ onClose }: { readonly onClose: () => void }): ReactElement {
  const client = useClient()
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const wanted = useDeferredValue(words.trim())
  const { data: runs = [] } = useQuery({
    queryKey: ['palette', wanted],
    queryFn: ({ signal }) => findRuns(client, wanted, signal),
    placeholderData: keepPreviousData,
  })
  const { data: streams = [] } = useQuery({
    queryKey: ['palette', 'streams'],
    queryFn: async ({ signal }) =>
      (await client.get<{ streams: readonly StreamView[] }>(STREAMS_PATH, { limit: 50 }, signal)).streams,
  })
  const [here, setHere] = useState('')
  const list = useRef<HTMLDivElement>(null)
  // What was found arrives after the list has looked for its first line.
  useEffect(() => {
    if (list.current?.querySelector('[cmdk-item][aria-selected="true"]')) return
    const first = list.current?.querySelector('[cmdk-item]')?.getAttribute('data-value')
    if (first) setHere(first)
  })
  const { runId } = useParams({ strict: false })
  const then = (doing: () => void) => () => {
    onClose()
    doing()
  }
  return (
    <Command.Dialog
      open
      label="Find anything"
      filter={rank}
      value={here}
      onValueChange={setHere}
      onOpenChange={(open) => !open && onClose()}
      overlayClassName="palette-ground"
      contentClassName="palette"
    >
      <Command.Input
        value={words}
        onValueChange={setWords}
        placeholder="Find a run, go somewhere, do something…"
      />
      <Command.List ref={list}>
        <Command.Empty>Nothing fits.</Command.Empty>
        <Command.Group heading="Runs">
          {runs.map((run) => (
            <Command.Item
              // Anew with other words: the list looks at keywords once.
              key={`${wanted} ${run.runId}`}
              value={`run ${run.runId}`}
              keywords={[wanted]}
              onSelect={then(
                () => void navigate({ to: '/runs/$runId', params: { runId: run.runId }, search: {} }),
              )}
            >
              <StatusMark status={run.status} compact />
              <span>{run.agent ?? 'run'}</span>
              <span className="clew-mono quiet">{shortenId(run.runId, 24)}</span>
              <span className="quiet end">{formatAgo(run.startedAt, Date.now())}</span>
            </Command.Item>
          ))}
        </Command.Group>
        {runId !== undefined && (
          <Command.Group heading="In this run">
            {RUN_TABS.map((tab) => (
              <Command.Item
                key={tab}
                value={`tab ${nameOfTab(tab)}`}
                onSelect={then(
                  () =>
                    void navigate({
                      to: '/runs/$runId',
                      params: { runId },
                      search: (before) => ({ ...readRunSearch(before), tab }),
                    }),
                )}
              >
                {nameOfTab(tab)}
              </Command.Item>
            ))}
          </Command.Group>
        )}
        <Command.Group heading="Go to">
          {streams.map(({ streamId, title }) => (
            <Command.Item
              key={streamId}
              value={`stream ${title ?? ''} ${streamId}`}
              onSelect={then(
                () => void navigate({ to: '/streams/$streamId', params: { streamId }, search: {} }),
              )}
            >
              <MessagesSquare size={15} aria-hidden="true" /># {title ?? streamId}
            </Command.Item>
          ))}
          {PLACES.map(({ to, label, icon: Icon, shortcut }) => (
            <Command.Item
              key={to}
              value={`go ${label}`}
              onSelect={then(() => void navigate({ to, search: {} }))}
            >
              <Icon size={15} aria-hidden="true" />
              {label}
              <Keys name={shortcut} />
            </Command.Item>
          ))}
        </Command.Group>
        <Command.Group heading="Do">
          {COMMANDS.filter(isHeard).map((name) => (
            <Command.Item key={name} value={SHORTCUTS[name].about} onSelect={then(() => tellShortcut(name))}>
              {SHORTCUTS[name].about}
              <Keys name={name} />
            </Command.Item>
          ))}
        </Command.Group>
      </Command.List>
    </Command.Dialog>
  )
}

function Keys({ name }: { readonly name: ShortcutName }): ReactElement {
  return (
    <span className="end">
      {keysOf(name).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  )
}
