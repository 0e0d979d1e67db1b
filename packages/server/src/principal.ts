import type { ViewTarget } from './tokens/view-token.ts'

/** Permissions of a token; an operation names the one it needs. `approve`: answer for a person over MCP (A7). */
export const SCOPES = ['read', 'write', 'control', 'approve', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** A caller: a token, or a program on this machine. */
export interface Principal {
  /** Id of the token; `local` without one. */
  readonly id: string
  readonly name: string
  /** The only workspace that exists for it; null for all of them. */
  readonly workspace: string | null
  readonly scopes: readonly Scope[]
  /** The only run or stream that exists for it, with a view token. */
  readonly only?: ViewTarget | undefined
}

/** Every program on this machine. */
export const LOCAL: Principal = { id: 'local', name: 'local', workspace: null, scopes: ['admin'] }

/** `control` includes `read`, since its answers show runs; `admin` includes all. */
const BRINGS: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  write: ['write'],
  control: ['control', 'read'],
  approve: ['approve', 'read'],
  admin: SCOPES,
}

export const may = ({ scopes }: Principal, scope: Scope): boolean =>
  scopes.some((own) => BRINGS[own].includes(scope))

const WORKSPACE = /^[\w.:@-]{1,128}$/
/** Workspaces of the server's own runs; no caller may enter them. */
const RESERVED = /^clew:/

/** For requests and rooms. A workspace that the caller may not enter is reported as not found. */
export const mayEnter = (principal: Principal, workspace: string): boolean =>
  WORKSPACE.test(workspace) &&
  !RESERVED.test(workspace) &&
  (principal.workspace === null || principal.workspace === workspace)
