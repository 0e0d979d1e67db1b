export { type Scope, SCOPES } from '../principal.ts'
export { stateOf, type TokenRecord, type TokenState } from './token-run.ts'
export { createToken, listTokens, type NewToken, revokeToken } from './tokens.ts'
