/** Numbers as people read them: always with a unit, never longer than they need to be. */

export function formatDuration(ms: number | null): string {
  if (ms === null || Number.isNaN(ms)) return '–'
  if (ms < 0) return `−${formatDuration(-ms)}`
  if (ms < 1) return ms === 0 ? '0 ms' : `${ms.toFixed(1)} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)} s`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`
}

/** A duration, or – where none was recorded: records without times begin and end at the same instant. */
export const formatTook = (ms: number | null): string => (ms === 0 ? '–' : formatDuration(ms))

export function formatMoney(dollars: number | null): string {
  if (dollars === null) return '–'
  if (dollars === 0) return '$0'
  if (Math.abs(dollars) < 0.00005) return '< $0.0001'
  if (Math.abs(dollars) < 0.01) return `$${dollars.toFixed(4)}`
  if (Math.abs(dollars) < 1) return `$${dollars.toFixed(3)}`
  return `$${dollars.toFixed(2)}`
}

/** 980, 12.4 k, 3.1 M */
export function formatCount(count: number): string {
  if (count < 1000) return String(count)
  if (count < 999_500) return `${trim(count / 1000)} k`
  return `${trim(count / 1_000_000)} M`
}

const trim = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1))

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 999_500) return `${trim(bytes / 1000)} KB`
  if (bytes < 999_500_000) return `${trim(bytes / 1_000_000)} MB`
  return `${trim(bytes / 1_000_000_000)} GB`
}

/** How long ago, in one word and a number; a clock that is ahead of ours counts as now. */
export function formatAgo(iso: string, nowMs: number): string {
  const atMs = Date.parse(iso)
  if (Number.isNaN(atMs)) return iso
  const seconds = Math.round((nowMs - atMs) / 1000)
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  if (seconds < 86_400 * 30) return `${Math.floor(seconds / 86_400)} d ago`
  return iso.slice(0, 10)
}

/** The exact time, for titles. */
export function formatExact(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : `${date.toLocaleString()} (${iso})`
}

export function formatClock(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : date.toLocaleTimeString(undefined, { hour12: false })
}

/** Long ids lose their middle: what differs stands at both ends. */
export function shortenId(id: string, most = 14): string {
  if (id.length <= most) return id
  const half = Math.floor((most - 1) / 2)
  return `${id.slice(0, most - 1 - half)}…${id.slice(-half)}`
}

/** Made once: making it anew takes longer than all that it formats on a page. */
const GROUPED = new Intl.NumberFormat('en')

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${GROUPED.format(count)} ${count === 1 ? one : many}`
