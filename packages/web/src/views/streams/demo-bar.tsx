import { useClient } from '@clew/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Skull } from 'lucide-react'
import type { ReactElement } from 'react'
import { DEMO_STREAM, useDemo } from '../../use-demo.ts'

/** In the demo: who can be spoken to, and the button that kills them. Elsewhere nothing. */
export function DemoBar({ streamId }: { readonly streamId: string }): ReactElement | null {
  const client = useClient()
  const queries = useQueryClient()
  const demo = useDemo(streamId === DEMO_STREAM)
  const kill = useMutation({
    mutationFn: () => client.post('/v1/demo/kill', {}),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['demo'] }),
  })
  const data = demo.data?.chat
  if (streamId !== DEMO_STREAM || demo.isError || data === null) return null
  // Its place is kept while it is asked for, so that nothing jumps.
  if (!data) return <div className="demo-bar" />
  return (
    <div className="demo-bar" role="note">
      <span className="demo-personas">
        {data.personas.map(({ id, name, about }, at) => (
          <span key={id} title={about}>
            <b>{at === 0 ? name : `@${id}`}</b> <span className="quiet">{about}</span>
          </span>
        ))}
      </span>
      <span className="quiet end">
        {data.model}, {data.pid === null ? 'its process is gone' : `process ${data.pid}`}
      </span>
      <button
        type="button"
        className="button bad"
        disabled={data.pid === null || kill.isPending}
        onClick={() => kill.mutate()}
      >
        <Skull size={14} aria-hidden="true" />
        Kill the agents
      </button>
    </div>
  )
}
