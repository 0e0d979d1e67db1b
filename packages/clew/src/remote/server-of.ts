import type { Ledger } from '@clew/ledger'
import type { RemoteServer } from './ask-server.ts'

const servers = new WeakMap<Ledger, RemoteServer>()

/** The server that stands behind a ledger; undefined when it is a store. */
export const serverOf = (ledger: Ledger): RemoteServer | undefined => servers.get(ledger)

export const noteServer = (ledger: Ledger, server: RemoteServer): void => void servers.set(ledger, server)
