/** The load of the scenario `live`, the same for Clew and for bare socket.io. */
export const SOCKETS = 1000
export const ROOMS = 100
export const EVENTS_PER_SECOND = 500
export const TOKENS_PER_SECOND = 5000
/** Each session is at its next step so often, in milliseconds: a start and an end are two events. */
export const STEP_MS = (ROOMS * 2 * 1000) / EVENTS_PER_SECOND
/** Each session gets a token so often. */
export const TOKEN_MS = (ROOMS * 1000) / TOKENS_PER_SECOND
export const TOKEN = 'owls '
/** What progress is gathered for before it travels, as the `TraceEmitter` does it (T4). */
export const GATHER_MS = 50

export const sessionOf = (index: number): string => `session-${index}`

/** What a process of the scenario has used since it was asked before. */
export interface Usage {
  readonly cpuMs: number
  readonly heapBytes: number
}

/** Answers `usage` with what was used since; memory counts after the garbage is gone. */
export function answerUsage(): void {
  let before = process.cpuUsage()
  process.on('message', (message) => {
    if (message !== 'usage') return
    const { user, system } = process.cpuUsage(before)
    // Not counted: what is only done to look.
    globalThis.gc?.()
    before = process.cpuUsage()
    process.send?.({ usage: { cpuMs: (user + system) / 1000, heapBytes: process.memoryUsage().heapUsed } })
  })
}
