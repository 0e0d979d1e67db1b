import type { Ledger } from '@clew/ledger'
import { type Note, readNotes } from './notes.ts'
import type { EndedErrand, Evidence, Found } from './tally.ts'

interface Exported {
  readonly event_id: string
  readonly correlation_id: string
  readonly payload: { readonly key?: string; readonly epoch?: number }
  readonly ledger: { readonly seq: number; readonly position: number; readonly hash: string }
}

/** All that the ledger has and all that was noted, when everything is over. */
export async function gatherEvidence(
  ledger: Ledger,
  notes: {
    readonly writer: readonly string[]
    readonly worker: readonly string[]
    readonly follower: readonly string[]
  },
): Promise<Evidence> {
  const [written, worked] = [notes.writer.flatMap(readNotes), notes.worker.flatMap(readNotes)]
  const followed = notes.follower.map(readNotes)
  const { problems } = await ledger.verify(undefined, { projections: true })
  return {
    found: await findAll(ledger),
    acknowledged: pick(written, (note) => ('ack' in note ? note.ack : [])),
    sent: pick(written, (note) =>
      'intent' in note && note.epoch === undefined
        ? note.intent.map(({ eventId, correlationId: runId }) => ({ eventId, runId }))
        : [],
    ),
    followed: followed.map((own) => pick(own, (note) => ('followed' in note ? note.followed : []))),
    errands: await readErrands(ledger),
    outside: pick(worked, (note) => ('outside' in note ? [note] : [])),
    problems: problems.map(
      ({ runId, seq, problem, detail }) => `${problem}: run ${runId} seq ${seq}: ${detail}`,
    ),
    failures: pick([...written, ...worked, ...followed.flat()], (note) =>
      'failed' in note ? [note.failed] : [],
    ),
  }
}

const pick = <T>(notes: readonly Note[], of: (note: Note) => readonly T[]): T[] =>
  notes.flatMap((note) => [...of(note)])

async function findAll(ledger: Ledger): Promise<Found[]> {
  const found: Found[] = []
  for await (const line of ledger.export()) {
    const { event_id: eventId, correlation_id: runId, payload, ledger: place } = JSON.parse(line) as Exported
    const { seq, position, hash } = place
    found.push({
      eventId,
      runId,
      seq,
      position,
      hash,
      key: payload.key ?? null,
      epoch: payload.epoch ?? null,
    })
  }
  return found.sort((a, b) => a.position - b.position)
}

async function readErrands(ledger: Ledger): Promise<EndedErrand[]> {
  const errands: EndedErrand[] = []
  for (let cursor: string | undefined; ; ) {
    const { runs, nextCursor } = await ledger.listRuns({ agent: 'errand', limit: 200, cursor })
    for (const { runId, status } of runs) {
      const steps = await ledger.getSteps(runId)
      const completed = steps.filter((step) => step.status === 'completed')
      const parts = completed.filter((step) => step.nodeName === 'part')
      const isTwice = new Set(completed.map((step) => step.stepId)).size < completed.length
      const isOpen = steps.some((step) => step.status === 'running' || step.status === 'paused')
      let ends = 0
      for await (const _ of ledger.read(runId, { types: ['system.workflow_completed'] })) ends++
      errands.push({
        runId,
        status,
        ends,
        completed: new Map(parts.map((step, n) => [String(n), step.attempt])),
        flaws: [...(isTwice ? ['a step completed twice'] : []), ...(isOpen ? ['a step was left open'] : [])],
      })
    }
    if (!nextCursor) return errands
    cursor = nextCursor
  }
}
