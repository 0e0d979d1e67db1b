/** `38 ms`, `1.2 s`, `3 m 05 s`, `2 h 10 m`, `4 d 3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`
  const hours = Math.floor(minutes / 60)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `just now`, `3 min ago`, `2 h ago`; older than a day, or from a clock ahead of ours: the local time. */
export function formatRelative(iso: string, now: number): string {
  const ago = now - Date.parse(iso)
  if (!(ago >= -5000 && ago < 86_400_000)) return formatLocal(iso)
  if (ago < 5000) return 'just now'
  if (ago < 60_000) return `${Math.floor(ago / 1000)} s ago`
  if (ago < 3_600_000) return `${Math.floor(ago / 60_000)} min ago`
  return `${Math.floor(ago / 3_600_000)} h ago`
}

/** `2026-11-15 07:17:00`, in the time zone of this machine. */
export function formatLocal(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${formatClock(iso).slice(0, 8)}`
}

/** `07:17:00.123`, in the time zone of this machine. */
export function formatClock(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso.slice(11, 23)
  const ms = String(at.getMilliseconds()).padStart(3, '0')
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${ms}`
}

const two = (value: number): string => String(value).padStart(2, '0')
