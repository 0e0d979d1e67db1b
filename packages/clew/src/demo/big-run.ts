import { type EventInput, formatStepId, type Ledger, type OwnEventType, type PayloadOf } from '@clew/ledger'

const BATCH = 400
const IN_ROUND = 9
const NAMES = ['thinking', 'workspace_search', 'visit_page'] as const

/** A run with as many steps as wanted, for looking at how long ones behave: rounds of a loop, some of them with errors. */
export async function recordBigRun(
  ledger: Ledger,
  {
    runId,
    steps,
    onProgress,
  }: { runId: string; steps: number; onProgress?: ((steps: number) => void) | undefined },
): Promise<void> {
  let waiting: EventInput[] = []
  let clockMs = Date.now() - steps * 40
  let done = 0
  function add<T extends OwnEventType>(eventType: T, payload: PayloadOf<T>): void {
    clockMs += 20
    const source = { origin: 'agent', runtime: 'clew' } as const
    waiting.push({
      eventType,
      correlationId: runId,
      source,
      timestamp: new Date(clockMs).toISOString(),
      payload,
    })
  }
  async function flush(isLast = false): Promise<void> {
    if (waiting.length < BATCH && !isLast) return
    await ledger.append(waiting)
    waiting = []
    onProgress?.(done)
  }
  /** One step, around what happens inside it. */
  async function step(
    parentStepId: string | null,
    name: string,
    ordinal: number,
    inside?: (stepId: string) => Promise<void>,
  ): Promise<void> {
    const stepId = formatStepId({ parentStepId, name, ordinal })
    const place = { stepId, attempt: 1 }
    const isWrong = inside === undefined && done % 997 === 996
    done++
    add('execution.step_started', {
      ...place,
      name,
      ordinal,
      parentStepId,
      kind: inside ? 'compute' : 'effect',
      input: { round: ordinal },
    })
    await inside?.(stepId)
    if (isWrong)
      add('execution.step_failed', {
        ...place,
        error: { name: 'TimeoutError', message: 'no answer in time' },
      })
    else
      add('execution.step_completed', {
        ...place,
        output: { text: `What step ${done} gave back` },
        ...(name === 'thinking' && {
          usage: { inputTokens: 40 + (done % 60), outputTokens: 20 },
          model: 'gpt-4o-mini',
        }),
      })
    await flush()
  }

  add('system.workflow_started', { agent: 'long-runner', input: { steps } })
  add('execution.message', { role: 'user', content: `Work through ${steps} steps.` })
  for (let round = 0; done < steps; round++)
    await step(null, 'round', round, async (parent) => {
      for (let n = 0; n < IN_ROUND && done < steps; n++)
        await step(parent, NAMES[n % NAMES.length] ?? 'thinking', Math.floor(n / NAMES.length))
    })
  add('execution.message', { role: 'assistant', content: `All ${steps} steps are done.` })
  add('system.workflow_completed', { output: { steps } })
  await flush(true)
}
