import type { Ports } from './ports.ts'

/** Lets everybody else of the process have their turn: long work in a loop comes here after each piece of it. */
export const yieldToEventLoop = ({ defer }: Pick<Ports, 'defer'>): Promise<void> =>
  new Promise((resolve) => {
    defer(resolve)
  })
