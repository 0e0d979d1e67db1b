import { createProgressWriter, type Ledger, type ProgressWriter, stepTypeOf } from '@clew/ledger'
import type { StepChange, RunListener } from '../run/result.ts'

/** One per ledger for all runs, so that concurrent progress is one write. */
const writers = new WeakMap<Ledger, ProgressWriter>()

function writerOf(ledger: Ledger): ProgressWriter {
  const writer =
    writers.get(ledger) ??
    createProgressWriter({
      put: (notes) => ledger.progress.put(notes),
      clear: (runId, stepId) => ledger.progress.clear(runId, stepId),
      now: Date.now,
      after: (ms, task) => void setTimeout(task, ms).unref(),
    })
  writers.set(ledger, writer)
  return writer
}

interface OpenStep {
  readonly step: StepChange
  text: string
}

export interface RecordedProgress {
  readonly listener: RunListener
  /** What an open step has streamed. */
  textOf(stepId: string): string
  close(): Promise<void>
}

/**
 * Makes the tokens of a run's steps their progress (T4), beside whatever else they are told to. Those of a child run
 * count for the step that waits for it.
 */
export function recordProgress(ledger: Ledger, runId: string, listener: RunListener): RecordedProgress {
  const open = new Map<string, OpenStep>()
  const writer = writerOf(ledger)

  function onStep(step: StepChange): void {
    listener.step?.(step)
    const { stepId, status } = step
    if (status === 'running') open.set(stepId, { step, text: '' })
    else if (status !== 'paused') void close(stepId)
  }

  /** Most steps never speak. */
  function close(stepId: string): Promise<void> | undefined {
    const told = open.get(stepId)
    open.delete(stepId)
    return told && told.text !== '' ? writer.end({ runId, stepId, attempt: told.step.attempt }) : undefined
  }

  function add(stepId: string | null, text: string): void {
    const told = stepId === null ? undefined : open.get(stepId)
    if (stepId === null || !told) return
    told.text += text
    const { attempt, kind, name } = told.step
    writer.report({ runId, stepId, attempt, stepType: stepTypeOf(kind, name), content: told.text })
  }

  const below = (told: RunListener | undefined, parentStepId: string): RunListener => ({
    ...told,
    token(stepId, text) {
      told?.token?.(stepId, text)
      add(parentStepId, text)
    },
    child: (link) => below(told?.child?.(link), parentStepId),
  })

  return {
    listener: {
      ...listener,
      step: onStep,
      token(stepId, text) {
        listener.token?.(stepId, text)
        add(stepId, text)
      },
      child: (link) => below(listener.child?.(link), link.parentStepId),
    },
    textOf: (stepId) => open.get(stepId)?.text ?? '',
    async close() {
      await Promise.all([...open.keys()].map(async (stepId) => close(stepId)))
    },
  }
}
