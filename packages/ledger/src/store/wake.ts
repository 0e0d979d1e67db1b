/** Wakes all; one that throws harms neither the others nor the writer, whose commit stands (L7). */
export function notifyAll(wakes: Iterable<() => void>): void {
  for (const wake of wakes) {
    try {
      wake()
    } catch {
      // A wake-up carries no data, and what went wrong is known where it was thrown.
    }
  }
}
