import { type MessageContext, type TracePlace, useClient } from '@clew/react'
import type { StreamMessage, StreamView } from '@clew/trace'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { messagesPath } from './paths.ts'

interface StreamPlaces {
  readonly thread: string | undefined
  closeThread(): void
  readonly place: TracePlace
  readonly context: MessageContext
  /** Why a thread could not be opened. */
  readonly error: unknown
}

/** Panes and dialogs that are open with a stream, all kept in the address. */
export function useStreamPlaces(): StreamPlaces {
  const { thread, trace, highlight } = useSearch({ from: '/streams/$streamId' })
  const navigate = useNavigate({ from: '/streams/$streamId' })
  const client = useClient()
  const [error, setError] = useState<unknown>(null)
  const focusBefore = useRef<Element | null>(null)

  // The same from one rendering to the next, so that rows which have not changed are left alone.
  const acts = useMemo(() => {
    async function openThread({ streamId, messageId, threadStreamId }: StreamMessage): Promise<void> {
      setError(null)
      focusBefore.current = document.activeElement
      try {
        const path = `${messagesPath(streamId)}/${encodeURIComponent(messageId)}/threads`
        const opened = threadStreamId ?? (await client.post<StreamView>(path, {})).streamId
        void navigate({ search: (before) => ({ ...before, thread: opened }) })
      } catch (failed) {
        setError(failed)
      }
    }
    return {
      openTrace: (sessionId: string, marked?: string) =>
        void navigate({
          search: (before) => ({ ...before, trace: sessionId, highlight: marked }),
          // From one version to another: Back leads out of the dialog.
          replace: new URLSearchParams(location.search).has('trace'),
        }),
      closeTrace: () =>
        void navigate({
          search: (before) => ({ ...before, trace: undefined, highlight: undefined }),
          replace: true,
        }),
      openThread: (message: StreamMessage) => void openThread(message),
      closeThread() {
        void navigate({ search: (before) => ({ ...before, thread: undefined }) })
        if (focusBefore.current instanceof HTMLElement) focusBefore.current.focus({ preventScroll: true })
      },
    }
  }, [client, navigate])
  const place = {
    sessionId: trace ?? null,
    highlight: highlight ?? null,
    open: acts.openTrace,
    close: acts.closeTrace,
  }
  return { thread, closeThread: acts.closeThread, place, context: acts, error }
}
