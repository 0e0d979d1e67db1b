import { createInterface } from 'node:readline/promises'

/** Asks the person at the terminal; undefined when the time is over or the command ends first. */
export async function ask(
  prompt: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  // In this mode the terminal gives Ctrl-C to us instead of to the process.
  lines.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return await lines.question(prompt, { signal: over })
  } catch {
    process.stdout.write('\n')
    return undefined
  } finally {
    lines.close()
  }
}
