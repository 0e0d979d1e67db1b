import { useClient } from '@clew/react'
import type { StreamView } from '@clew/trace'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { TopBar } from '../../frame/top-bar.tsx'
import { Ago } from '../../parts/ago.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { NewStream } from './new-stream.tsx'
import { STREAMS_PATH } from './paths.ts'

/** All streams; with one of them, that one. */
export function StreamsPage(): ReactElement {
  const client = useClient()
  const streams = useQuery({
    queryKey: ['streams'],
    queryFn: ({ signal }) =>
      client.get<{ streams: StreamView[]; nextCursor: string | null }>(STREAMS_PATH, { limit: 200 }, signal),
  })
  const own = streams.data?.streams.filter(({ parentStreamId }) => parentStreamId === null)
  const [only] = own ?? []
  if (own?.length === 1 && only)
    return <Navigate to="/streams/$streamId" params={{ streamId: only.streamId }} search={{}} replace />
  return (
    <>
      <TopBar title="Streams">
        <h1 className="crumb-here">Streams</h1>
      </TopBar>
      {streams.error && <ErrorNote error={streams.error} onRetry={() => void streams.refetch()} />}
      {own && own.length === 0 && (
        <div className="empty">
          <h2>No stream yet</h2>
          <p>
            A stream is a chat in which agents answer. Every answer has a trace that you can open while it is
            made.
          </p>
          <pre>{`const stream = 'general'\nawait createStream(ledger, { streamId: stream, title: 'General' })\nawait answer.start(ledger, input, { session: { streamId: stream, persona } })`}</pre>
          <p className="quiet">
            <code>npm start</code> starts one in which agents answer.
          </p>
        </div>
      )}
      <ul className="streams">
        {own?.map((stream) => (
          <li key={stream.streamId}>
            <Link to="/streams/$streamId" params={{ streamId: stream.streamId }} search={{}}>
              <span>{stream.title ?? stream.streamId}</span>
              <span className="quiet end">
                <Ago at={stream.updatedAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {own && <NewStream />}
    </>
  )
}
