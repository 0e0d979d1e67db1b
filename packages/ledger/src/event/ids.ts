import type { Ports } from '../ports.ts'

/** Written out: two of them are looked at for each event, and a pattern takes three times as long. */
export function isUuid(text: string): boolean {
  if (text.length !== 36) return false
  for (let i = 0; i < 36; i++) {
    const code = text.charCodeAt(i)
    if (i === 8 || i === 13 || i === 18 || i === 23) {
      if (code !== 0x2d) return false
    } else if (!isHexDigit(code)) return false
  }
  return true
}

const isHexDigit = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66) || (code >= 0x41 && code <= 0x46)

/**
 * UUIDv7 generator, strictly rising within a process even when the clock stands still or goes back:
 * ids are index keys, and random ones made appends several times slower at a million rows.
 */
export function createIds(ports: Pick<Ports, 'now' | 'randomHex'>): () => string {
  let lastMs = 0
  let time = ''
  let counter = 0
  let pool = ''
  let at = 0

  function setTime(ms: number): void {
    lastMs = ms
    const text = ms.toString(16).padStart(12, '0')
    time = `${text.slice(0, 8)}-${text.slice(8)}-7`
  }

  return () => {
    const now = ports.now()
    if (now > lastMs) {
      setTime(now)
      counter = 0x1000
    } else if (++counter > 0x1fff) {
      setTime(lastMs + 1)
      counter = 0x1000
    }
    if (at === pool.length) {
      pool = ports.randomHex(1600)
      at = 0
    }
    const random = pool.slice(at, at + 16)
    at += 16
    const variant = '89ab'[random.charCodeAt(0) & 3] as string
    return `${time}${counter.toString(16).slice(1)}-${variant}${random.slice(1, 4)}-${random.slice(4)}`
  }
}

/** The first number of a step id, such as 12 in `think@s12` and `plan#12/search#0`. */
const STEP_NUMBER = /[#@]s?(\d{1,9})(?:\/|$)/

/**
 * The same id for the same run and parts, for ever: what makes a retried delivery free (L4). The leading 48 bits
 * belong to the run, so that the ids of one run lie together in every index. Where a part is the id of a step, 12 bits
 * of its number follow, so that what is written together lies together there: scattered ids made each commit of a
 * step write twice as many pages of indexes.
 */
export function createDeriver(
  sha256: Ports['sha256'],
  runId: string,
): (...parts: readonly (string | number)[]) => string {
  const lead = isUuid(runId)
    ? runId.replaceAll('-', '').slice(0, 12).toLowerCase()
    : sha256(runId).slice(0, 12)
  const begin = `${lead.slice(0, 8)}-${lead.slice(8)}-8`
  const first = `[${JSON.stringify(runId)},`
  return (...parts) => {
    // The text of the whole array, without printing the run's id again.
    const own = sha256(parts.length === 0 ? JSON.stringify([runId]) : first + JSON.stringify(parts).slice(1))
    return `${begin}${nearness(parts) ?? own.slice(0, 3)}-8${own.slice(3, 6)}-${own.slice(6, 18)}`
  }
}

function nearness(parts: readonly (string | number)[]): string | undefined {
  for (const part of parts) {
    const number = typeof part === 'string' ? STEP_NUMBER.exec(part)?.[1] : undefined
    if (number !== undefined) return (0x1000 | (Number(number) & 0xfff)).toString(16).slice(1)
  }
  return undefined
}

/** One id of a run; `createDeriver` is for many. */
export const deriveId = (
  sha256: Ports['sha256'],
  runId: string,
  ...parts: readonly (string | number)[]
): string => createDeriver(sha256, runId)(...parts)
