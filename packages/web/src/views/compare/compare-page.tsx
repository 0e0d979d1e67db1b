import type { DiffRow, ItemReference, RunDiff, RunSummary } from '@clew/ledger'
import {
  formatAgo,
  formatCount,
  formatDuration,
  formatMoney,
  runPath,
  shortenId,
  useClient,
} from '@clew/react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowLeftRight } from 'lucide-react'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { SideHead } from './side-head.tsx'
import { RowDiff } from './row-diff.tsx'
import { TopBar } from '../../frame/top-bar.tsx'
import { Changes } from '../../parts/changes.tsx'
import { Command, shellWord } from '../../parts/command.tsx'
import { SessionQuestion } from '../streams/session-question.tsx'
import { ErrorNote } from '../../parts/note.tsx'

/** Two runs side by side, aligned, with the place where they part in view. */
export function ComparePage(): ReactElement {
  const { a, b, all } = useSearch({ from: '/compare' })
  const navigate = useNavigate({ from: '/compare' })
  const client = useClient()
  const { data: diff, error } = useQuery({
    queryKey: ['diff', a, b],
    enabled: a !== undefined && b !== undefined,
    queryFn: ({ signal }) =>
      client.get<RunDiff>(`${runPath(a ?? '')}/diff`, { otherRunId: b, full: true }, signal),
    // A branch is compared while it runs.
    refetchInterval: ({ state }) =>
      state.data && [state.data.a, state.data.b].some(({ status }) => LIVE.has(status))
        ? LOOK_AGAIN_MS
        : false,
  })
  return (
    <>
      <TopBar title="Compare">
        <h1 className="crumb-here">Compare</h1>
      </TopBar>
      <div className="compare-pick">
        <RunPicker
          label="Expected run"
          value={a}
          onPick={(runId) => void navigate({ search: (now) => ({ ...now, a: runId }) })}
        />
        <button
          type="button"
          className="icon-button"
          aria-label="Swap the two runs"
          onClick={() => void navigate({ search: (now) => ({ ...now, a: now.b, b: now.a }) })}
        >
          <ArrowLeftRight size={15} aria-hidden="true" />
        </button>
        <RunPicker
          label="Compared run"
          value={b}
          onPick={(runId) => void navigate({ search: (now) => ({ ...now, b: runId }) })}
        />
      </div>
      {error && <ErrorNote error={error} />}
      {a === undefined || b === undefined ? (
        <div className="empty">
          <h2>Choose two runs above</h2>
          <p>
            Or select two in the{' '}
            <Link to="/runs" search={{}}>
              list
            </Link>{' '}
            with <kbd>X</kbd> and press <kbd>C</kbd>.
          </p>
        </div>
      ) : (
        diff && (
          <Comparison
            diff={diff}
            showAll={all === true}
            onAll={(next) =>
              void navigate({ search: (now) => ({ ...now, all: next ? true : undefined }), replace: true })
            }
          />
        )
      )}
    </>
  )
}

const LIVE: ReadonlySet<string> = new Set(['pending', 'running', 'paused'])
const LOOK_AGAIN_MS = 1000

interface RunPickerProps {
  readonly label: string
  readonly value: string | undefined
  readonly onPick: (runId: string) => void
}

function RunPicker({ label, value, onPick }: RunPickerProps): ReactElement {
  const client = useClient()
  const { data } = useQuery({
    queryKey: ['pick'],
    queryFn: ({ signal }) => client.get<{ runs: RunSummary[] }>('/v1/runs', { limit: 100 }, signal),
  })
  const runs = data?.runs ?? []
  return (
    <label className="field">
      <span className="clew-hidden">{label}</span>
      <select aria-label={label} value={value ?? ''} onChange={(event) => onPick(event.target.value)}>
        <option value="" disabled>
          {label}…
        </option>
        {value !== undefined && !runs.some(({ runId }) => runId === value) && (
          <option value={value}>{value}</option>
        )}
        {runs.map((run) => (
          <option key={run.runId} value={run.runId}>
            {run.agent ?? 'run'} · {formatAgo(run.startedAt, Date.now())} · {run.status} ·{' '}
            {shortenId(run.runId, 22)}
          </option>
        ))}
      </select>
    </label>
  )
}

const ROW = 28

interface ComparisonProps {
  readonly diff: RunDiff
  readonly showAll: boolean
  readonly onAll: (all: boolean) => void
}

function Comparison({ diff, showAll, onAll }: ComparisonProps): ReactElement {
  const { first, counts } = diff
  const rows = showAll ? diff.rows : diff.rows.filter(({ mark }) => mark !== 'same')
  const scroll = useRef<HTMLDivElement>(null)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 20,
    getItemKey: (index) => keyOf(rows[index]),
  })
  const toggle = (key: string): void =>
    setOpened((before) => {
      const next = new Set(before)
      if (!next.delete(key)) next.add(key)
      return next
    })
  const partsAt = rows.findIndex(({ mark }) => !['same', 'attempts', 'wording'].includes(mark))
  useEffect(() => {
    if (partsAt > 0) list.scrollToIndex(partsAt, { align: 'center' })
  }, [partsAt])
  const told = first?.changes.filter(({ path }) => path !== '$.inputDigest') ?? []
  const differing = diff.rows.length - counts.same - counts.attempts
  return (
    <div className="compare">
      <div className="compare-sums">
        <p className="compare-verdict" data-same={diff.same}>
          {diff.same
            ? 'Both runs did the same.'
            : first
              ? `They part at ${nameOf(first.expected ?? first.received) ?? 'the end'}: ${KINDS[first.kind]}.`
              : 'Only words differ.'}
        </p>
        <dl>
          <Delta name="took" delta={diff.deltas.durationMs} format={formatDuration} />
          <Delta name="steps" delta={diff.deltas.steps} format={formatCount} />
          <Delta name="tokens in" delta={diff.deltas.inputTokens} format={formatCount} />
          <Delta name="tokens out" delta={diff.deltas.outputTokens} format={formatCount} />
          <Delta name="cost" delta={diff.deltas.cost} format={formatMoney} />
          <Delta name="errors" delta={diff.deltas.errors} format={formatCount} />
        </dl>
      </div>
      {[diff.a, diff.b].map(
        ({ runId, status }) =>
          status === 'paused' && <SessionQuestion key={runId} runId={runId} seq={diff.rows.length} />,
      )}
      {told.length > 0 && <Changes changes={told} />}
      <div className="compare-bar">
        <span className="quiet">
          {counts.same + counts.attempts} the same
          {counts.attempts > 0 && ` (${counts.attempts} after more attempts or fewer)`}, {differing} differ
          {diff.sharedEvents > 0 && `, first ${diff.sharedEvents} events shared`}
        </span>
        <label>
          <input type="checkbox" checked={showAll} onChange={(event) => onAll(event.target.checked)} /> show
          what is the same
        </label>
      </div>
      <div className="compare-heads">
        {[diff.a, diff.b].map(({ runId, status }) => (
          <SideHead key={runId} runId={runId} status={status} />
        ))}
      </div>
      <div className="scroll" ref={scroll}>
        <div
          role="list"
          aria-label="Lines of both runs"
          style={{ height: list.getTotalSize(), position: 'relative' }}
        >
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index]
            if (!row) return null
            return (
              <div
                key={item.key}
                ref={list.measureElement}
                data-index={item.index}
                role="listitem"
                className="compare-row"
                data-mark={row.mark}
                data-parts={item.index === partsAt}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Item item={row.a} runId={diff.a.runId} />
                {row.mark === 'same' ? (
                  <span className="compare-mark" />
                ) : (
                  <button
                    type="button"
                    className="compare-mark link"
                    aria-expanded={opened.has(keyOf(row))}
                    aria-label={`${row.mark}: show the difference`}
                    onClick={() => toggle(keyOf(row))}
                  >
                    <span className="compare-word">{row.mark}</span>
                    <span className="compare-sign" aria-hidden="true">
                      {SIGNS[row.mark] ?? '≠'}
                    </span>
                  </button>
                )}
                <Item item={row.b} runId={diff.b.runId} />
                {opened.has(keyOf(row)) && (
                  <RowDiff
                    a={{ runId: diff.a.runId, item: row.a }}
                    b={{ runId: diff.b.runId, item: row.b }}
                  />
                )}
              </div>
            )
          })}
        </div>
      </div>
      <div className="compare-feet">
        <Command text={`clew diff ${shellWord(diff.a.runId)} ${shellWord(diff.b.runId)}`} />
      </div>
    </div>
  )
}

const SIGNS: Readonly<Record<string, string>> = { missing: '−', extra: '+', wording: '~', attempts: '↻' }

const keyOf = (row: DiffRow | undefined): string => `${row?.a?.index ?? ''} ${row?.b?.index ?? ''}`

/** A digest shows that values differ; its digits are not shown. */
const labelOf = (item: ItemReference | null): string | undefined =>
  item?.label.replace(/ ?\{"inputDigest":"[0-9a-f]*"\}?/, '')

/** Without what it was given. */
const nameOf = (item: ItemReference | null): string | undefined => labelOf(item)?.split(' {', 1)[0]

const KINDS: Readonly<Record<string, string>> = {
  order: 'another order',
  name: 'another step',
  kind: 'another kind of step',
  input: 'another input',
  output: 'another output',
  decision: 'another decision',
  missing: 'only the first has this',
  extra: 'only the second has this',
}

function Item({
  item,
  runId,
}: {
  readonly item: ItemReference | null
  readonly runId: string
}): ReactElement {
  if (!item) return <span className="compare-item" />
  return (
    <Link to="/runs/$runId" params={{ runId }} search={{ event: item.seq }} className="compare-item">
      <span className="clew-mono quiet">#{item.seq}</span> {labelOf(item)}
    </Link>
  )
}

interface DeltaProps {
  readonly name: string
  readonly delta: { readonly a: number | null; readonly b: number | null; readonly delta: number | null }
  readonly format: (value: number) => string
}

function Delta({ name, delta: { a, b, delta }, format }: DeltaProps): ReactElement | null {
  // What neither run recorded is not compared.
  if ((a ?? 0) === 0 && (b ?? 0) === 0) return null
  const by = delta === null || delta === 0 ? null : format(Math.abs(delta))
  return (
    <div>
      <dt>{name}</dt>
      <dd className="clew-mono">
        {a === null ? '–' : format(a)} → {b === null ? '–' : format(b)}
        {/* What is too little to be told is not told with a sign either. */}
        {delta !== null && by !== null && !by.startsWith('<') && (
          <span className="quiet">
            {' '}
            ({delta > 0 ? '+' : '−'}
            {by})
          </span>
        )}
      </dd>
    </div>
  )
}
