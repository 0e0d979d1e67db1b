import { isRequestError } from '@clew/react'
import { QueryClient } from '@tanstack/react-query'

/** Answers are kept as they came: payloads may be deeper than comparing them could go. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      structuralSharing: false,
      staleTime: 2000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 3 && !(isRequestError(error) && error.status < 500),
    },
  },
})
