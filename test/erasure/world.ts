import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { openLedger } from '../../packages/clew/src/index.ts'

type Ledger = Awaited<ReturnType<typeof openLedger>>

/** What the subject said: a word of its own, and text that looks different in each encoding. */
export const WORD = 'quokkafisher'
export const QUOTED = 'Zoë said "leave\tme"'
export const SUBJECT = 'customer-7711'

/** Each way in which a file could still hold it. */
export const NEEDLES: readonly string[] = [
  WORD,
  WORD.slice(1),
  QUOTED,
  JSON.stringify(QUOTED).slice(1, -1),
  JSON.stringify(JSON.stringify(QUOTED)).slice(1, -1),
  SUBJECT,
]

const long = (text: string): { n: number; text: string }[] =>
  Array.from({ length: 120 }, (_, n) => ({ n, text: `${text} ${n} ${QUOTED}` }))

/** One run of a subject among many others, in small steps, so that its rows lie between theirs. */
export async function recordCustomers(ledger: Ledger, others: number): Promise<void> {
  for (let n = 0; n < others; n++) {
    const isTheirs = n % 5 === 2
    const runId = isTheirs ? `ticket-${n}` : `other-${n}`
    const said = isTheirs ? `${WORD} ${QUOTED}` : `ordinary words ${n} `.repeat(n % 7)
    const about = isTheirs
      ? { subjects: [SUBJECT], threadId: `thread of ${SUBJECT}` }
      : { threadId: `t-${n % 3}` }
    const event = (eventType: string, payload: Record<string, unknown>) => ({
      eventType,
      correlationId: runId,
      payload,
    })
    await ledger.append([event('system.workflow_started', { agent: 'desk', input: said, ...about })])
    await ledger.append([
      event('execution.step_started', {
        stepId: 'ask#0',
        name: 'ask',
        input: { said },
        inputDigest: 'aa'.repeat(16),
      }),
      event('execution.tool_call', { name: 'crm', arguments: { said } }),
    ])
    await ledger.append([
      event('execution.note', {
        values: isTheirs ? long(said) : Array.from({ length: n }, (_, i) => `v ${i} ${n}`),
      }),
      event('ui.input_requested', { pauseId: 'p', question: said, stepId: 'ask#0' }),
    ])
    await ledger.append([
      event('execution.step_failed', { stepId: 'ask#0', name: 'ask', error: { message: said.repeat(3) } }),
      event('system.workflow_failed', { error: { message: said } }),
    ])
    if (isTheirs)
      await ledger.progress.put([
        {
          runId,
          stepId: 'ask#0',
          attempt: 1,
          stepType: 'thinking',
          version: 1,
          content: said,
          at: new Date().toISOString(),
        },
      ])
  }
}

/** Where in the files of a folder a text stands. */
export function findBytes(folder: string, needles: readonly (string | Buffer)[] = NEEDLES): string[] {
  const found: string[] = []
  for (const name of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue
    const bytes = readFileSync(join(name.parentPath, name.name))
    for (const needle of needles)
      if (bytes.includes(needle)) found.push(`${name.name} holds ${String(needle).slice(0, 40)}`)
  }
  return found
}
