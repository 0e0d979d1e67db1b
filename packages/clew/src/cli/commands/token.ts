import { type ListedToken, tokenCreate, tokenList, tokenRevoke } from '../../operations/token.ts'
import type { Command, InputOf } from '../command.ts'
import { EXIT } from '../failure.ts'
import { type Column, formatTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { plural, printable } from '../text.ts'
import { formatRelative } from '../time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'NAME', flexible: true },
  { title: 'SCOPES' },
  { title: 'WORKSPACE' },
  { title: 'STATE' },
  { title: 'MADE' },
  { title: 'ENDS' },
]

export const tokenCreateCommand: Command<InputOf<typeof tokenCreate>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => tokenCreate.run(ledger, input), { readOnly: false, create: true })
  const { bold, dim } = terminal.output.colour
  await terminal.answer(data, () => [
    ...table(terminal, [data.record]),
    '',
    bold(data.token),
    '',
    dim('Shown only once; only its sha256 is stored. Pass it as CLEW_TOKEN, or as authorization: Bearer …'),
  ])
  return EXIT.fine
}

export const tokenListCommand: Command<InputOf<typeof tokenList>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => tokenList.run(ledger, input))
  const { dim } = terminal.output.colour
  await terminal.answer(data, () => {
    const [first] = data.tokens
    if (!first) return [`No tokens yet. Create one: ${terminal.next('clew token create --name laptop')}`]
    const next = terminal.next(`clew token revoke ${first.tokenId}`)
    return [...table(terminal, data.tokens), '', dim(`${plural(data.tokens.length, 'token')} · ${next}`)]
  })
  return EXIT.fine
}

export const tokenRevokeCommand: Command<InputOf<typeof tokenRevoke>> = async ({
  input,
  terminal,
  withLedger,
}) => {
  const data = await withLedger((ledger) => tokenRevoke.run(ledger, input), { readOnly: false })
  const { dim } = terminal.output.colour
  await terminal.answer(data, () => [
    ...table(terminal, [data.record]),
    '',
    dim('Revoked: new requests are rejected, and its connections are closed.'),
  ])
  return EXIT.fine
}

function table({ output: { colour }, width }: Terminal, tokens: readonly ListedToken[]): string[] {
  const now = Date.now()
  const rows = tokens.map(({ tokenId, name, scopes, workspace, state, createdAt, expiresAt }) => [
    tokenId,
    printable(name),
    scopes.join(','),
    workspace === null ? 'all' : printable(workspace),
    state === 'valid' ? state : colour.yellow(state),
    formatRelative(createdAt, now),
    expiresAt === null ? 'never' : expiresAt.slice(0, 16).replace('T', ' '),
  ])
  const [head = '', ...body] = formatTable(COLUMNS, rows, width)
  return [colour.dim(head), ...body]
}
