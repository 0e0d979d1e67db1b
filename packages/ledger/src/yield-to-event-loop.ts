import type { Ports } from './ports.ts'

/** Yields to the event loop: long loops await it after each piece of work. */
export const yieldToEventLoop = ({ defer }: Pick<Ports, 'defer'>): Promise<void> =>
  new Promise((resolve) => {
    defer(resolve)
  })
