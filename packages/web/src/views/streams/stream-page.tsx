import {
  type AgentTrace,
  preloadMarkdown,
  type StreamTrace,
  TraceDialog,
  type TracePlace,
  TraceProvider,
  useStreamSocket,
} from '@clew/react'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { useTellLink } from '../../frame/link-state.ts'
import { useShortcut } from '../../frame/shortcuts.ts'
import { TopBar } from '../../frame/top-bar.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { DEMO_STREAM, useDemo } from '../../use-demo.ts'
import { DemoBar } from './demo-bar.tsx'
import { RunAgain } from './run-again.tsx'
import { SessionQuestion } from './session-question.tsx'
import { StreamPane } from './stream-pane.tsx'
import { ThreadPane } from './thread-pane.tsx'
import { useStreamPlaces } from './use-stream-places.ts'

// Messages stand where they stay from their first picture on; without it they are shown as plain text first.
await preloadMarkdown().catch(() => undefined)

/** A chat in which agents answer; beside it the thread on a message, and over it the trace of a session. */
export function StreamPage(): ReactElement {
  const { streamId } = useParams({ from: '/streams/$streamId' })
  const { thread, closeThread, place, context, error } = useStreamPlaces()
  const stream = useStreamSocket(streamId)
  const examples = useExamples(streamId)
  const [isThreadActive, setThreadActive] = useState(true)
  useTellLink(stream.link)
  useShortcut('closeThread', closeThread, thread !== undefined)
  const isInThread = thread !== undefined && isThreadActive
  return (
    <TraceProvider place={place}>
      <TopBar title={stream.stream?.title ?? streamId}>
        <Link to="/streams" search={{}} className="crumb">
          Streams
        </Link>
        <h1 className="crumb-here"># {stream.stream?.title ?? streamId}</h1>
      </TopBar>
      <DemoBar streamId={streamId} />
      {error !== null && <ErrorNote error={error} />}
      <div className="stream-view" data-thread={thread !== undefined}>
        <div className="stream-main" onFocus={() => setThreadActive(false)}>
          <StreamPane
            key={streamId}
            streamId={streamId}
            stream={stream}
            context={context}
            label="Messages"
            isActive={!isInThread}
            examples={examples}
            empty={<Empty />}
          />
        </div>
        {thread !== undefined && (
          <ThreadPane
            key={thread}
            streamId={thread}
            about={wordsOfThread(stream, thread)}
            context={context}
            isActive={isInThread}
            onFocus={() => setThreadActive(true)}
            onClose={closeThread}
          />
        )}
      </div>
      <TraceDialog
        renderActions={(trace, sessionId) => <Actions {...{ trace, sessionId, place }} />}
        renderEnd={({ status, steps }, sessionId) =>
          status === 'paused' && <SessionQuestion runId={sessionId} seq={steps.length} />
        }
      />
    </TraceProvider>
  )
}

/** In the demo, what could be asked: none while they are on their way, so that their place is kept. */
function useExamples(streamId: string): readonly string[] | undefined {
  const isDemo = streamId === DEMO_STREAM
  const { data, isError } = useDemo(isDemo)
  if (!isDemo || isError || data?.chat === null) return undefined
  return data?.chat.personas.map(({ example }) => example) ?? []
}

interface ActionsProps {
  readonly trace: AgentTrace
  readonly sessionId: string
  readonly place: TracePlace
}

function Actions({ trace, sessionId, place }: ActionsProps): ReactElement {
  return (
    <>
      <RunAgain key={sessionId} {...{ sessionId, trace }} onBegun={place.open} onStream={place.close} />
      <Link to="/runs/$runId" params={{ runId: sessionId }} search={{}} className="button">
        Open run
      </Link>
    </>
  )
}

function Empty(): ReactElement {
  return (
    <div className="stream-empty">
      <p>There are no messages yet. Write the first one.</p>
      <p className="quiet">
        An agent that consumes the ledger can answer it, with a session that everybody here can watch.
      </p>
    </div>
  )
}

function wordsOfThread({ items }: StreamTrace, thread: string): string | null {
  for (const item of items)
    if (item.type === 'message' && item.message.threadStreamId === thread)
      return typeof item.message.content === 'string' ? item.message.content.slice(0, 120) : null
  return null
}
