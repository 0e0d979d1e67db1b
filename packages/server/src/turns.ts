/** Bytes of bodies that are read within one turn of the event loop, and the body that goes beyond it. */
const TURN_BYTES = 32 * 1024

/** Resolves when a body of so many bytes may be decoded and appended. */
export type Turns = (bytes: number) => Promise<void>

/**
 * Spreads bodies that arrive at once over turns of the event loop, in their order. Without this, one turn would read all
 * of them before any other request is answered. Small ones still share a turn, and so a commit.
 */
export function createTurns(): Turns {
  const waiting: { readonly bytes: number; readonly go: () => void }[] = []
  let spent = 0
  let isScheduled = false

  function goOn(): void {
    while (spent < TURN_BYTES) {
      const next = waiting.shift()
      if (!next) return
      spent += next.bytes
      next.go()
    }
  }

  function begin(): void {
    isScheduled = spent > 0
    spent = 0
    if (isScheduled) setImmediate(begin)
    goOn()
  }

  return (bytes) =>
    new Promise((go) => {
      waiting.push({ bytes, go })
      if (!isScheduled) {
        isScheduled = true
        setImmediate(begin)
      }
      goOn()
    })
}
