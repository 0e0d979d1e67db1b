import type { ClewEvent } from '@clew/ledger'
import { plural, runPath, useClient } from '@clew/react'
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../parts/note.tsx'

/** What `preview` answers. */
interface Preview {
  readonly keptSteps: number
  readonly nextSteps: number
  readonly live: readonly PreviewedEffect[]
  readonly outward: readonly PreviewedEffect[]
  readonly streamId: string | null
  readonly agent: string | null
  readonly canRun: boolean
}
interface PreviewedEffect {
  readonly name: string
  readonly safety: string
  readonly count: number
}

export type Effects = 'ask' | 'live'

/** One recorded value that a fork has otherwise. */
export type ReplacedValue = { readonly step: string } & (
  | { readonly output: unknown }
  | { readonly input: unknown }
  | { readonly answer: unknown }
)

interface Cut {
  readonly at?: { readonly step: string } | undefined
  readonly replace?: ReplacedValue | undefined
}

export function usePreview(
  runId: string,
  cut: Cut,
): { readonly data: Preview | undefined; readonly error: unknown } {
  const client = useClient()
  return useQuery({
    queryKey: ['preview', runId, JSON.stringify(cut)],
    queryFn: () => client.post<Preview>(`${runPath(runId)}/preview`, cut),
    staleTime: 10_000,
  })
}

interface BranchTermsProps {
  readonly preview: ReturnType<typeof usePreview>
  readonly effects: Effects
  readonly onEffects: (effects: Effects) => void
}

/** What the branch keeps and what it will do outside, said before it is made. */
export function BranchTerms({
  preview: { data, error },
  effects,
  onEffects,
}: BranchTermsProps): ReactElement {
  if (error) return <ErrorNote error={error} />
  if (!data) return <p className="quiet">Reading what follows…</p>
  const { keptSteps, live, outward, streamId, canRun, agent } = data
  return (
    <div className="terms">
      <p>
        <b>{plural(keptSteps, 'step')} kept, $0.</b>{' '}
        {live.length === 0 ? 'No model or declared read followed.' : <>Then live: {namesOf(live)}.</>}
      </p>
      {outward.length > 0 && (
        <p>
          Reaches outside: {namesOf(outward)}.{' '}
          {effects === 'ask'
            ? 'Each is given its recorded result if its input is the same; else you are asked.'
            : 'All of it is done for real, unasked.'}
        </p>
      )}
      {streamId !== null && (
        <p className="waits">It answers in the stream {streamId}, where others see it.</p>
      )}
      {!canRun && (
        <p className="waits" role="note">
          The code of {agent ?? 'this run'} is not here, so nothing would follow: the fork waits until a
          process that has it resumes it (clew serve --agent ./agents.ts).
        </p>
      )}
      <label className="terms-effects">
        What reaches outside
        <select
          value={effects}
          onChange={(event) => onEffects(event.target.value === 'live' ? 'live' : 'ask')}
        >
          <option value="ask">ask</option>
          <option value="live">do it for real</option>
        </select>
      </label>
    </div>
  )
}

const namesOf = (effects: readonly PreviewedEffect[]): string =>
  effects.map(({ name, count }) => (count > 1 ? `${name} ×${count}` : name)).join(', ')

/** What a fork has otherwise than its source, in words. */
export function editOf(forked: ClewEvent | null | undefined): string | null {
  const { replaced, edit, input } = (forked?.payload ?? {}) as Readonly<Record<string, unknown>>
  if (typeof replaced === 'object' && replaced !== null) {
    const { what, stepId } = replaced as { readonly what: string; readonly stepId: string }
    return `with another ${what === 'request' ? 'input' : what} of ${stepId}`
  }
  if (input !== undefined) return 'with another input'
  return edit === undefined ? null : 'with another state'
}
