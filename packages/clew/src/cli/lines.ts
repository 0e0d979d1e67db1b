import type { Terminal } from './terminal.ts'

const CHUNK = 64 * 1024

/**
 * Writes many lines in few chunks and waits whenever the reader is slower (back-pressure). `live` lines come from a
 * follower and are written immediately.
 */
export async function writeLines<T>(
  terminal: Pick<Terminal, 'write'>,
  items: AsyncIterable<T>,
  format: (item: T) => string,
  live = false,
): Promise<number> {
  let buffer = ''
  let count = 0
  for await (const item of items) {
    buffer += format(item)
    count++
    if (!live && buffer.length < CHUNK) continue
    await terminal.write(buffer)
    buffer = ''
  }
  if (buffer !== '') await terminal.write(buffer)
  return count
}
