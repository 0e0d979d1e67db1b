import type { Transcript } from './transcript-entry.ts'
import { oneLine, transcriptBlocks } from './transcript-text.ts'

/** Markdown. Texts are quoted and data is fenced, so recorded text cannot look like a heading. */
export function formatTranscriptMarkdown(transcript: Transcript): string {
  const facts = [transcript.agent, transcript.status, transcript.startedAt].filter((fact) => fact !== null)
  const parts = [`# ${escape(transcript.runId ?? 'no run')}`, facts.map(escape).join(' · ')]
  for (const { title, subject, body, form } of transcriptBlocks(transcript)) {
    const heading = title.charAt(0).toUpperCase() + title.slice(1)
    parts.push(`### ${escape(heading)}${subject === '' ? '' : ` ${escape(subject)}`}`)
    if (body !== '') parts.push(form === 'data' ? fence(body) : quote(body))
  }
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

const escape = (text: string): string => oneLine(text).replace(/[\\`*_[\]<>#|~&]/g, '\\$&')

/**
 * Makes recorded text inert: a renderer would run or fetch HTML, images, and links to anything but the web and mail.
 * Entities are used because a backslash may already precede the character. In code they are visible as entities:
 * separating code from text would need a whole parser, and a mistake of it would let HTML through.
 */
const inert = (text: string): string =>
  text
    .replace(/<(?=[a-z/!?])/gi, '&lt;')
    .replaceAll('![', '&#33;[')
    .replace(/\](?=\(\s*<?(?!\s*(?:https?:\/\/|mailto:))|:(?!\s*<?(?:https?:\/\/|mailto:)))/gi, '&#93;')

const quote = (text: string): string =>
  inert(text)
    .split(/\r\n|[\n\r]/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')

/** A fence that is longer than any inside. */
function fence(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const mark = '`'.repeat(longest + 1)
  return `${mark}json\n${text}\n${mark}`
}
