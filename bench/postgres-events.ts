import type { EventInput } from 'clew'
import { prose } from './measure.ts'

export const GROUP = 100

/** Events of about 500 bytes with their envelope; one group is of one run. */
export const groupsOf = (count: number, size: number, runOf: (group: number) => string): EventInput[][] =>
  Array.from({ length: count / size }, (_, group) =>
    Array.from({ length: size }, (_each, i) => ({
      eventType: 'execution.message',
      correlationId: runOf(group),
      payload: { role: 'assistant', content: prose(300, (group * size + i) % 997), index: group * size + i },
    })),
  )
