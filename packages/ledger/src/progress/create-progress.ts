import { ClewError } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import { MAX_NOTE_CHARS, type Progress, type ProgressNote, type StoredNote } from './progress.ts'
import type { Redactor } from '../redact/redact.ts'
import type { Store } from '../store/store.ts'

interface ProgressParts {
  readonly store: Pick<Store, 'progress'>
  readonly redactor: Redactor
  readonly followed: () => Promise<void> | undefined
  readonly workspace: string
  readonly now: () => number
  readonly assertOpen: () => void
  readonly assertWritable: () => void
}

const PAGE = 500
const MAX_NAME_CHARS = 1024

/** T4 and P1: the one way to the side table, for every reporter. */
export function createProgress(parts: ProgressParts): Progress {
  const { store, redactor, followed, workspace, now, assertOpen, assertWritable } = parts

  function toStored(note: ProgressNote): StoredNote {
    assertNote(note)
    const { runId, stepId, attempt, stepType, version, at } = note
    return { workspace, runId, stepId, attempt, stepType, version, at, body: toBody(note) }
  }

  function toBody({ content, runId, stepId }: ProgressNote): string {
    if (typeof content === 'string') return JSON.stringify(lastPart(redactor.stream().push(content)))
    const body = JSON.stringify(redactor.value(content).value)
    if (body.length <= MAX_NOTE_CHARS) return body
    throw new ClewError(
      'too_large',
      `The progress of step ${stepId} of run ${runId} has ${body.length} characters`,
      `Report text, of which the end is kept, or at most ${MAX_NOTE_CHARS} characters of JSON.`,
      { runId, stepId },
    )
  }

  return {
    async put(notes) {
      assertWritable()
      const following = followed()
      if (following) await following
      if (notes.length > 0) await store.progress.put(notes.map(toStored), now())
    },
    async read({ runId, after, limit = PAGE } = {}) {
      assertOpen()
      const { notes, cursor } = await store.progress.read({ workspace, runId, after, limit })
      return { notes: notes.map(toNote), cursor }
    },
    async clear(runId, stepId) {
      assertOpen()
      await store.progress.clear({ workspace, runId }, stepId)
    },
    watch(wake) {
      assertOpen()
      return store.progress.watch(wake)
    },
  }
}

/** Notes come from other machines too; in the store nothing checks them again. */
function assertNote(note: ProgressNote): void {
  const refuse = (field: string, expected: string): never => {
    throw new ClewError(
      'bad_value',
      `The field ${field} of a progress note is not ${expected}`,
      'Correct it; no note of this call was kept.',
      { field, expected },
    )
  }
  for (const field of ['runId', 'stepId', 'stepType', 'at'] as const)
    if (typeof note[field] !== 'string' || note[field].length > MAX_NAME_CHARS)
      refuse(field, `a text of up to ${MAX_NAME_CHARS} characters`)
  if (!Number.isInteger(note.attempt) || note.attempt < 1 || note.attempt > 2 ** 31 - 1)
    refuse('attempt', 'a whole number from 1 on')
  if (!Number.isSafeInteger(note.version) || note.version < 0) refuse('version', 'a whole number from 0 on')
  if (note.content === undefined) refuse('content', 'a JSON value')
}

const lastPart = (text: string): string =>
  text.length <= MAX_NOTE_CHARS ? text : `…${text.slice(1 - MAX_NOTE_CHARS)}`

function toNote({ runId, stepId, attempt, stepType, version, at, body }: StoredNote): ProgressNote {
  return { runId, stepId, attempt, stepType, version, content: JSON.parse(body) as JsonValue, at }
}
