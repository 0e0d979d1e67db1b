import { createContext, type ReactElement, type ReactNode, useContext } from 'react'
import type { Client } from './client.ts'

const ClientContext = createContext<Client | null>(null)

/** Gives every part below it the way to the server. */
export function ClewProvider({
  client,
  children,
}: {
  readonly client: Client
  readonly children: ReactNode
}): ReactElement {
  return <ClientContext.Provider value={client}>{children}</ClientContext.Provider>
}

export function useClient(): Client {
  const client = useContext(ClientContext)
  if (!client)
    throw new Error('There is no client. Wrap the component in <ClewProvider client={createClient()}>.')
  return client
}
