import {
  type MessageContext,
  SessionCard,
  StreamMessageRow,
  type StreamEntry,
  type StreamTrace,
  useEndInView,
} from '@clew/react'
import type { SessionHead } from '@clew/trace'
import { Fragment, type ReactElement, type ReactNode, useLayoutEffect, useMemo, useRef } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { Composer } from './composer.tsx'
import { SessionQuestion } from './session-question.tsx'
import { useMessageKeys } from './use-message-keys.ts'

interface StreamPaneProps {
  readonly streamId: string
  readonly stream: StreamTrace
  readonly context: MessageContext
  readonly label: string
  /** Whether keys are meant for it. */
  readonly isActive: boolean
  readonly isThread?: boolean | undefined
  /** Example questions. */
  readonly examples?: readonly string[] | undefined
  /** While nothing has been said. */
  readonly empty: ReactNode
}

/** Messages and cards, the newest at the bottom; who reads further up is left there. */
export function StreamPane(props: StreamPaneProps): ReactElement {
  const { streamId, stream, context, label, isActive, isThread = false, examples, empty } = props
  const { items, hasEarlier, readEarlier, isLoading, error } = stream
  const pane = useRef<HTMLElement>(null)
  const scroller = useEndInView()
  const heightBefore = useRef(0)
  const [first] = items
  useMessageKeys(pane, items, context, isActive)
  // Rows inserted above must not move the visible ones.
  useLayoutEffect(() => {
    const shown = scroller.current
    if (shown && heightBefore.current > 0) shown.scrollTop += shown.scrollHeight - heightBefore.current
    heightBefore.current = 0
  }, [scroller, first?.key])

  return (
    <section ref={pane} className="stream-pane">
      <div ref={scroller} className="stream-scroll" role="log" aria-label={label} tabIndex={0}>
        <div className="stream-items">
          {hasEarlier && (
            <button
              type="button"
              className="button earlier"
              onClick={() => {
                heightBefore.current = scroller.current?.scrollHeight ?? 0
                void readEarlier()
              }}
            >
              Earlier messages
            </button>
          )}
          {error !== null && items.length === 0 && <ErrorNote error={error} />}
          {!isLoading && error === null && items.length === 0 && empty}
          <Items items={items} stream={stream} context={context} />
        </div>
      </div>
      <Composer streamId={streamId} isThread={isThread} examples={examples} />
    </section>
  )
}

function Items({
  items,
  stream,
  context,
}: { readonly items: readonly StreamEntry[] } & Pick<StreamPaneProps, 'stream' | 'context'>): ReactNode {
  const words = useMemo(() => wordsById(items), [items])
  const avatars = useMemo(() => avatarsById(items), [items])
  const asking = useMemo(() => askingByItem(items), [items])
  const again = useMemo(() => answeredAgain(items), [items])
  const questionAt = ({ key }: StreamEntry): ReactNode => {
    const session = asking.get(key)
    return session && <SessionQuestion runId={session.sessionId} seq={session.seq} />
  }
  return items.map((item) =>
    item.type === 'message' ? (
      <Fragment key={item.key}>
        <StreamMessageRow
          message={item.message}
          context={context}
          activity={stream.activityOf(item.message.messageId)}
          avatarUrl={avatars.get(item.message.author.id) ?? null}
        />
        {asking.has(item.key) && <div className="stream-asking">{questionAt(item)}</div>}
      </Fragment>
    ) : (
      <div key={item.key} className="stream-card" data-live={item.session.status === 'running'}>
        <SessionCard
          session={item.session}
          asked={words.get(item.session.triggerMessageId ?? '') ?? null}
          isAgain={again.has(item.key)}
          onOpen={() => context.openTrace(item.session.sessionId)}
        >
          {questionAt(item)}
        </SessionCard>
      </div>
    ),
  )
}

/** Item below which the question of each paused session is shown: its card, or its newest message. */
function askingByItem(items: readonly StreamEntry[]): ReadonlyMap<string, SessionHead> {
  const paused = new Map(
    items.flatMap((item) =>
      item.type === 'session' && item.session.status === 'paused'
        ? [[item.session.sessionId, item.session]]
        : [],
    ),
  )
  const places = new Map<string, string>()
  for (const item of items) {
    const sessionId = item.type === 'session' ? item.session.sessionId : item.message.sessionId
    if (sessionId !== null && paused.has(sessionId)) places.set(sessionId, item.key)
  }
  return new Map([...places].map(([sessionId, key]) => [key, paused.get(sessionId) as SessionHead]))
}

/** Sessions on a message that has one already. */
function answeredAgain(items: readonly StreamEntry[]): ReadonlySet<string> {
  const answered = new Set<string>()
  const again = new Set<string>()
  for (const item of items) {
    if (item.type !== 'session' || item.session.triggerMessageId === null) continue
    if (answered.has(item.session.triggerMessageId)) again.add(item.key)
    answered.add(item.session.triggerMessageId)
  }
  return again
}

const wordsById = (items: readonly StreamEntry[]): Map<string, string> =>
  new Map(
    items.flatMap((item) =>
      item.type === 'message' && typeof item.message.content === 'string'
        ? [[item.message.messageId, item.message.content.slice(0, 200)]]
        : [],
    ),
  )

const avatarsById = (items: readonly StreamEntry[]): Map<string, string> =>
  new Map(
    items.flatMap((item) => {
      const persona = item.type === 'session' ? item.session.persona : null
      return persona && persona.avatarUrl !== null ? [[persona.id, persona.avatarUrl]] : []
    }),
  )
