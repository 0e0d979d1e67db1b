const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** `512 bytes`, `1.4 MB`. */
export function formatSize(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`
}
