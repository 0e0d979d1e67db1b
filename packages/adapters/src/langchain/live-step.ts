import type { Ledger } from '@clew/ledger'
import type { ActiveStep, SessionTrace, StepCompletion } from './session-trace.ts'

/** One step of a session, or nothing where there is none. */
export interface LiveStep {
  token(text: string): void
  complete(completion: StepCompletion): Promise<void>
}

export async function startLiveStep(
  session: SessionTrace | undefined,
  ledger: Ledger,
  stepType: string,
): Promise<LiveStep | undefined> {
  if (!session) return undefined
  const active: ActiveStep = await session.startStep({ stepType })
  // P1 holds for live text, too: a secret that comes in two pieces is still one.
  const clean = ledger.redactor.stream()
  let content = ''
  return {
    token(text) {
      const more = clean.push(text)
      if (more === '') return
      content += more
      active.progress({ content })
    },
    async complete({ content: said, ...rest }) {
      await active.complete({ ...rest, ...(said !== undefined && { content: ledger.redactor.text(said) }) })
    },
  }
}
