import type { StepSkeleton, TaskNode } from '@clew/ledger'
import { formatTook, plural, spellBidi, StatusMark } from '@clew/react'
import { X } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { RunLink } from './run-head.tsx'
import type { TabProps } from './run-page.tsx'
import { stepKey } from './step-key.ts'

const MAX_LISTED = 200

/** The steps and child runs that one node of the graph stands for, failed ones first. */
export function NodeSteps({
  task,
  view,
  chosen,
  search,
  choose,
}: TabProps & { readonly task: TaskNode }): ReactElement {
  const [limit, setLimit] = useState(MAX_LISTED)
  const steps =
    search.child === undefined
      ? view.steps.filter(
          ({ nodeName, startedSeq }) =>
            nodeName === task.name && (task.firstSeq === null || startedSeq >= task.firstSeq),
        )
      : []
  const ordered = [...steps.filter(isFailed), ...steps.filter((step) => !isFailed(step))]
  return (
    <section className="node-steps" aria-label={`Steps of ${task.name}`}>
      <header>
        <b>{spellBidi(task.name)}</b>
        <span className="quiet">{plural(Math.max(steps.length, task.count), 'step')}</span>
        <button
          type="button"
          className="icon-button"
          aria-label="Close the list"
          onClick={() => choose({ node: undefined })}
        >
          <X size={14} aria-hidden="true" />
        </button>
      </header>
      <ol>
        {task.runIds.slice(0, limit).map((runId) => (
          <li key={runId}>
            <RunLink runId={runId} />
            <button
              type="button"
              className="link"
              onClick={() => choose({ child: runId, node: undefined, step: undefined })}
            >
              draw it here
            </button>
          </li>
        ))}
        {ordered.slice(0, limit).map((step) => (
          <li key={stepKey(step)} data-chosen={chosen === step}>
            <button
              type="button"
              className="link clew-mono"
              onClick={() => choose({ step: stepKey(step), event: undefined })}
            >
              #{step.startedSeq} {spellBidi(step.stepId)}
            </button>
            <StatusMark status={step.status} />
            <span className="clew-mono quiet">{formatTook(step.durationMs)}</span>
            {step.error?.message && <span className="clew-row-error">{step.error.message}</span>}
          </li>
        ))}
      </ol>
      {ordered.length > limit && (
        <button type="button" className="button" onClick={() => setLimit((now) => now * 5)}>
          Show more of {plural(ordered.length, 'step')}
        </button>
      )}
    </section>
  )
}

const isFailed = ({ status }: StepSkeleton): boolean => status === 'failed'
