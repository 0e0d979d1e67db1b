import { useMemo, useSyncExternalStore } from 'react'
import { useClient } from '../client/provider.tsx'
import { openRunRecord, type RunRecord, type RunView, UNREAD } from './run-record.ts'

/** A run, read and followed while the component is mounted. */
export function useRun(runId: string): RunView {
  const client = useClient()
  const shared = useMemo(() => shareRecord(() => openRunRecord(client, runId)), [client, runId])
  return useSyncExternalStore(shared.subscribe, shared.get, shared.get)
}

/** Opened with the first listener and closed after the last one: rendering alone opens nothing. */
function shareRecord(open: () => RunRecord): Pick<RunRecord, 'get' | 'subscribe'> {
  let record: RunRecord | undefined
  let listeners = 0
  return {
    get: () => record?.get() ?? UNREAD,
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
