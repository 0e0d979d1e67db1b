import { checkLimit, checkSince } from './check-options.ts'
import { parseCursor } from './cursor.ts'
import type { ClewEvent } from './envelope.ts'
import { auditFold, type AuditTrail } from './fold/audit.ts'
import { COMPLIANCE_TYPES, type ComplianceEntry, complianceFold } from './fold/compliance.ts'
import type { Fold } from './fold/fold.ts'
import { type TaskGraph, taskGraphFold } from './fold/task-graph.ts'
import { type Timeline, timelineFold } from './fold/timeline.ts'
import { toChatMessages } from './fold/transcript-chat.ts'
import type { Transcript } from './fold/transcript-entry.ts'
import { formatTranscriptMarkdown } from './fold/transcript-markdown.ts'
import { formatTranscriptText } from './fold/transcript-text.ts'
import { transcriptFold } from './fold/transcript.ts'
import { formatChat, type ModelForm, type ModelForms } from './messages/format-messages.ts'

export interface ComplianceFilter {
  /** Recorded at or after this time. */
  readonly since?: string | Date | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** V3 to V8 of runs: folds of what is recorded; nothing is executed. A run that does not exist has empty views. */
export interface RunViews {
  transcript(runId: string, options?: { format?: undefined; as?: undefined }): Promise<Transcript>
  transcript(runId: string, options: { format: 'text' | 'markdown' }): Promise<string>
  /** Messages that can be sent to a model again, in the form of its maker. */
  transcript<Form extends ModelForm>(runId: string, options: { as: Form }): Promise<ModelForms[Form]>
  timeline(runId: string): Promise<Timeline>
  taskGraph(runId: string): Promise<TaskGraph>
  audit(runId: string): Promise<AuditTrail>
  /** Administrative events of the whole workspace, oldest first. */
  compliance(filter?: ComplianceFilter): Promise<{ entries: ComplianceEntry[]; nextCursor: string | null }>
}

interface ViewSources {
  /** All events of a run. */
  readonly read: (runId: string) => AsyncIterable<ClewEvent>
  /** Events of these types in the workspace, by position. */
  readonly readTypes: (types: readonly string[], afterPosition: number, limit: number) => Promise<ClewEvent[]>
}

export function createRunViews({ read, readTypes }: ViewSources): RunViews {
  async function fold<State, View>(by: Fold<State, View>, runId: string): Promise<View> {
    let state = by.begin()
    for await (const event of read(runId)) state = by.apply(state, event)
    return by.view(state)
  }

  async function transcript(
    runId: string,
    { format, as }: { format?: 'text' | 'markdown' | undefined; as?: ModelForm | undefined } = {},
  ): Promise<unknown> {
    const folded = await fold(transcriptFold, runId)
    if (format === 'text') return formatTranscriptText(folded)
    if (format === 'markdown') return formatTranscriptMarkdown(folded)
    return as === undefined ? folded : formatChat(toChatMessages(folded), as)
  }

  return {
    transcript: transcript as RunViews['transcript'],
    timeline: (runId) => fold(timelineFold, runId),
    taskGraph: (runId) => fold(taskGraphFold, runId),
    audit: (runId) => fold(auditFold, runId),
    async compliance({ since, limit = 50, cursor } = {}) {
      const from = checkSince(since)
      const most = checkLimit(limit)
      let at = cursor === undefined ? 0 : parseCursor(cursor)
      const state = complianceFold.begin()
      while (state.length <= most) {
        const size = Math.max(500, most + 1)
        const page = await readTypes(COMPLIANCE_TYPES, at, size)
        for (const event of page)
          if (from === undefined || Date.parse(event.ledger.recordedAt) >= Date.parse(from))
            complianceFold.apply(state, event)
        const last = page.at(-1)
        if (!last || page.length < size) break
        at = last.ledger.position
      }
      const entries = complianceFold.view(state).entries.slice(0, most)
      const more = state.length > most
      return { entries, nextCursor: more ? String(entries.at(-1)?.position) : null }
    },
  }
}
