/** Permission of a caller; each operation names the one it needs. */
export const SCOPES = ['read', 'write', 'control', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Caller of a request: a token, or a local user. */
export interface Principal {
  /** Id of the token; `local` without one. */
  readonly id: string
  readonly name: string
  /** The only workspace that exists for it; null for all of them. */
  readonly workspace: string | null
  readonly scopes: readonly Scope[]
}

/** Everybody who is on this machine. */
export const LOCAL: Principal = { id: 'local', name: 'local', workspace: null, scopes: ['admin'] }

/** `control` and `admin` bring `read` along, since what they answer with tells of runs; `admin` brings everything. */
const BRINGS: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  write: ['write'],
  control: ['control', 'read'],
  admin: SCOPES,
}

export const may = ({ scopes }: Principal, scope: Scope): boolean =>
  scopes.some((own) => BRINGS[own].includes(scope))

const WORKSPACE = /^[\w.:@-]{1,128}$/
/** Names of the workspaces that hold the server's own runs; requests cannot name them. */
const RESERVED = /^clew:/

/** Requests and rooms alike: what it may not enter is not there for it. */
export const mayEnter = (principal: Principal, workspace: string): boolean =>
  WORKSPACE.test(workspace) &&
  !RESERVED.test(workspace) &&
  (principal.workspace === null || principal.workspace === workspace)
