import { useMemo, useSyncExternalStore } from 'react'
import { useClient } from '../client/provider.tsx'
import { openRunRecord, type RunRecord, type RunView } from './run-record.ts'
import { NO_TEXTS } from './step-texts.ts'

/** A run, read and followed as long as somebody looks at it. */
export function useRun(runId: string): RunView {
  const client = useClient()
  const shared = useMemo(() => shareRecord(() => openRunRecord(client, runId)), [client, runId])
  return useSyncExternalStore(shared.subscribe, shared.get, shared.get)
}

const NOTHING: RunView = {
  run: null,
  owner: null,
  entries: [],
  steps: [],
  texts: NO_TEXTS,
  isBrief: false,
  complete: false,
  lastSeq: 0,
  hasGaps: false,
  link: 'connecting',
  error: null,
}

/** Opened with the first listener and closed after the last one: rendering alone opens nothing. */
function shareRecord(open: () => RunRecord): Pick<RunRecord, 'get' | 'subscribe'> {
  let record: RunRecord | undefined
  let listeners = 0
  return {
    get: () => record?.get() ?? NOTHING,
    subscribe(listener) {
      record ??= open()
      listeners++
      const unsubscribe = record.subscribe(listener)
      return () => {
        unsubscribe()
        if (--listeners > 0) return
        record?.close()
        record = undefined
      }
    },
  }
}
