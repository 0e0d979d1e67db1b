import { createContext, type ReactElement, type ReactNode, use } from 'react'
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
  return <ClientContext value={client}>{children}</ClientContext>
}

export function useClient(): Client {
  const client = use(ClientContext)
  if (!client)
    throw new Error('There is no client. Wrap the component in <ClewProvider client={createClient()}>.')
  return client
}
