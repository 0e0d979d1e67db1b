import type { EntryOf, RunSummary } from '@clew/ledger'
import { runPath, textOf, useClient, wordsOf } from '@clew/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { QuestionCard } from '../run/question-card.tsx'

/** Question of a paused session, with the form for its answer. */
export function SessionQuestion({
  runId,
  seq,
}: {
  readonly runId: string
  readonly seq: number
}): ReactElement | null {
  const client = useClient()
  const asked = useQuery({
    queryKey: ['question', runId, seq],
    queryFn: async ({ signal }) => {
      const transcript = await client.get<{ entries: readonly { readonly kind: string }[] }>(
        `${runPath(runId)}/transcript`,
        {},
        signal,
      )
      const { run } = await client.get<{ run: RunSummary }>(runPath(runId), { steps: 0 }, signal)
      return transcript.entries.filter(
        (entry): entry is EntryOf<'question'> =>
          entry.kind === 'question' &&
          run.pauses.some(({ pauseId }) => pauseId === (entry as EntryOf<'question'>).pauseId),
      )
    },
  })
  return (
    <>
      {asked.data?.map((entry) => (
        <div key={entry.pauseId ?? entry.seq} className="stream-question">
          <p>
            {wordsOf(entry.question) ?? textOf(entry.question) ?? 'It asks:'}{' '}
            <Link to="/runs/$runId" params={{ runId }} search={{ act: 'stop' }} className="clew-link">
              Stop it…
            </Link>
          </p>
          <QuestionCard runId={runId} entry={entry} isWaiting />
        </div>
      ))}
    </>
  )
}
