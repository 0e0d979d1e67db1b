import { contentText, readJsonText, valueText } from './content-text.ts'
import type { RunError, RunStatus } from './run-summary.ts'
import type { Transcript, TranscriptEntry } from './transcript-entry.ts'

/** One piece of a transcript for people: what it is, about what, and what was said. */
export interface TranscriptBlock {
  readonly kind: TranscriptEntry['kind'] | 'outcome' | 'answer'
  readonly title: string
  /** A name in the title that came from the record: a role, a tool, a run. */
  readonly subject: string
  readonly body: string
  /** `words` are read as prose, `data` as code. */
  readonly form: 'words' | 'data'
}

const ERASED = '(erased)'

/** V3 for people, before it is laid out as text or Markdown. */
export function transcriptBlocks({ entries, status }: Transcript): TranscriptBlock[] {
  const blocks: TranscriptBlock[] = []
  let output: string | undefined
  let left = false
  for (const entry of entries) {
    // A question shows its own pause; going on is worth a line only after the run had been left.
    const went = entry.kind === 'status' ? entry.status : entry.kind
    if (went === 'paused' || (went === 'resumed' && !left)) continue
    if (went === 'interrupted' || went === 'blocked' || went === 'end') left = true
    else if (went === 'resumed') left = false
    for (const block of blocksOf(entry)) {
      const again = entry.kind === 'end' && block.body !== '' && block.body === output
      blocks.push(again ? { ...block, body: '(the structured output above)', form: 'words' } : block)
      if (entry.kind === 'structured_output') output = block.body
    }
  }
  const last = status === null ? undefined : OPEN_ENDS[status]
  if (last) blocks.push({ kind: 'status', title: last[0], subject: '', body: last[1], form: 'words' })
  return blocks
}

/** How the record of a run that has not ended stops. */
const OPEN_ENDS: { readonly [S in RunStatus]?: readonly [title: string, body: string] } = {
  running: ['Still running', 'the record ends here, the run has not'],
  pending: ['Not running', 'the run waits to be taken up'],
  paused: ['Paused', 'the run waits for an answer'],
}

/** Plain text; what was said is indented, so no message can pass for a heading. */
export function formatTranscriptText(transcript: Transcript): string {
  const head = [transcript.runId ?? '(no run)', transcript.agent, transcript.status]
    .filter(Boolean)
    .join(' · ')
  const blocks = transcriptBlocks(transcript).map(({ title, subject, body }) => {
    const heading = `${title.toUpperCase()}${subject === '' ? '' : ` ${oneLine(subject)}`}`
    return body === '' ? heading : `${heading}\n${indent(body)}`
  })
  return `${[oneLine(head), ...blocks].join('\n\n')}\n`
}

export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
const indent = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')

function blocksOf(entry: TranscriptEntry): TranscriptBlock[] {
  const block = (
    title: string,
    subject: string | null,
    body: string,
    form: TranscriptBlock['form'] = 'words',
  ): TranscriptBlock => ({
    kind: entry.kind,
    title,
    subject: subject ?? '',
    body: entry.erased ? ERASED : body,
    form: entry.erased ? 'words' : form,
  })
  const data = (title: string, subject: string | null, value: unknown): TranscriptBlock =>
    block(title, subject, valueText(value), typeof value === 'string' ? 'words' : 'data')

  switch (entry.kind) {
    case 'start': {
      const parent = entry.parentRunId === null ? '' : ` for ${entry.parentRunId}`
      return [data('Start', `${entry.agent ?? ''}${parent}`, entry.input)]
    }
    case 'message': {
      const body = contentText(entry.content)
      // A model that only calls tools says nothing; its calls follow.
      if (body === '' && !entry.erased) return []
      const from = [entry.name, entry.edited ? '(edited)' : null].filter(Boolean).join(' ')
      return [block(entry.role ?? 'message', from, body)]
    }
    case 'reasoning':
      return [block('Reasoning', '', contentText(entry.content))]
    case 'tool_call':
      return toolBlocks(entry, block('Tool call', entry.name, valueText(entry.arguments), 'data'))
    case 'handoff':
      return [block('Hand-off', `${entry.from ?? '?'} → ${entry.to ?? '?'}`, entry.reason ?? '')]
    case 'decision': {
      const choice = block(
        'Decision',
        '',
        valueText(entry.choice),
        typeof entry.choice === 'string' ? 'words' : 'data',
      )
      return entry.reason === null ? [choice] : [choice, block('Because', '', entry.reason)]
    }
    case 'question':
      return questionBlocks(entry, block)
    case 'structured_output':
      return [block('Structured output', '', valueText(entry.value), 'data')]
    case 'child_run':
      return [block('Child run', entry.childRunId, entry.name === null ? '' : `step ${entry.name}`)]
    case 'failure': {
      const attempt = entry.attempt > 1 || entry.retried ? ` (attempt ${entry.attempt})` : ''
      return [block('Step failed', `${entry.name ?? ''}${attempt}`, errorText(entry.error))]
    }
    case 'status':
      return [block(entry.status, '', entry.reason ?? '')]
    case 'end':
      if (entry.status === 'failed') return [block('Failed', '', errorText(entry.error))]
      if (entry.status === 'stopped') return [block('Stopped', '', entry.reason ?? '')]
      if (entry.status === 'superseded') return [block('Superseded', '', entry.reason ?? '')]
      return [data('Completed', '', entry.output)]
  }
}

function toolBlocks(
  entry: Extract<TranscriptEntry, { kind: 'tool_call' }>,
  call: TranscriptBlock,
): TranscriptBlock[] {
  const { outcome, name, called } = entry
  const blocks = called ? [call] : []
  if (!outcome) {
    const body = 'none was recorded'
    return [...blocks, { kind: 'outcome', title: 'Result', subject: name ?? '', body, form: 'words' }]
  }
  const title = outcome.error ? 'Tool error' : 'Result'
  const subject = `${name ?? ''}${called ? '' : ' (its call was not recorded)'}`
  const result = readJsonText(outcome.result)
  const body = outcome.erased
    ? ERASED
    : outcome.error
      ? errorText(outcome.error)
      : result === outcome.result
        ? contentText(result)
        : valueText(result)
  const form = outcome.erased || outcome.error || typeof result === 'string' ? 'words' : 'data'
  return [...blocks, { kind: 'outcome', title, subject, body, form }]
}

function questionBlocks(
  { question, options, asked, answer }: Extract<TranscriptEntry, { kind: 'question' }>,
  block: (title: string, subject: string, body: string) => TranscriptBlock,
): TranscriptBlock[] {
  const choices = Array.isArray(options) ? ` (${options.map(valueText).join(' / ')})` : ''
  const blocks = asked ? [block('Question', '', `${valueText(question)}${choices}`)] : []
  if (!answer)
    return [...blocks, { kind: 'answer', title: 'Answer', subject: '', body: 'none yet', form: 'words' }]
  const subject = answer.by === null ? '' : `by ${answer.by}`
  const body = answer.erased ? ERASED : valueText(answer.value)
  return [...blocks, { kind: 'answer', title: 'Answer', subject, body, form: 'words' }]
}

export function errorText(error: RunError | null): string {
  const said = [error?.name, error?.code, error?.message].filter(
    (part) => part !== null && part !== undefined,
  )
  return said.length === 0 ? 'no reason was recorded' : said.join(': ')
}
