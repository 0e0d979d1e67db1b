import { useClient } from '@clew/react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import type { ReactElement } from 'react'
import { Command } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { useDemo } from '../../use-demo.ts'

/** Nothing to show is the moment to say how there would be something. */
export function NoRuns({ isFiltered }: { readonly isFiltered: boolean }): ReactElement {
  if (isFiltered)
    return (
      <div className="empty">
        <h2>No run matches this filter</h2>
        <p>
          Remove a filter, or search a longer time: <code>since:7d</code>.
        </p>
      </div>
    )
  return (
    <div className="empty">
      <h2>No runs yet</h2>
      <p>Three lines of code record the first one. It appears here automatically.</p>
      <pre>{`const ledger = await openLedger('sqlite:./.clew/ledger.db')
const hello = agent('hello', (run, name: string) => run.step('greet', name, (n) => \`Hello \${n}\`))
await hello.start(ledger, 'Ariadne')`}</pre>
      <StartDemo />
    </div>
  )
}

/** Records a run on this ledger while it is watched. */
function StartDemo(): ReactElement {
  const client = useClient()
  const navigate = useNavigate()
  const { data } = useDemo()
  const start = useMutation({
    mutationFn: () => client.post<{ runId: string }>('/v1/demo', {}),
    onSuccess: ({ runId }) => void navigate({ to: '/runs/$runId', params: { runId }, search: {} }),
  })
  return (
    <>
      <p>Or run the demo agent on this ledger:</p>
      {data?.canStart && (
        <p>
          <button
            type="button"
            className="button main"
            disabled={start.isPending}
            onClick={() => start.mutate()}
          >
            <Play size={13} aria-hidden="true" /> Start the demo agent
          </button>
        </p>
      )}
      <Command text="clew demo" />
      {start.error && <ErrorNote error={start.error} />}
    </>
  )
}
