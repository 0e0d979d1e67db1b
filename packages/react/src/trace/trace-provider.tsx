import { createContext, type ReactElement, type ReactNode, useContext } from 'react'

/** Which trace is open, kept wherever an app keeps it: in its address as a rule (`?trace=…&highlight=…`). */
export interface TracePlace {
  readonly sessionId: string | null
  /** A step, or a message that a step wrote. */
  readonly highlight: string | null
  open(sessionId: string, highlight?: string): void
  /** Replaces the address, so that Back does not open it again. */
  close(): void
}

const TraceContext = createContext<TracePlace | null>(null)

export function TraceProvider({
  place,
  children,
}: {
  readonly place: TracePlace
  readonly children: ReactNode
}): ReactElement {
  return <TraceContext.Provider value={place}>{children}</TraceContext.Provider>
}

export function useTracePlace(): TracePlace {
  const place = useContext(TraceContext)
  if (!place) throw new Error('No trace is selected. Wrap the component in <TraceProvider place={…}>.')
  return place
}
