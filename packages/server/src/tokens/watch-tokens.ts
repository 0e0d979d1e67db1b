import type { Ledger } from '@clew/ledger'
import type { Logger } from 'pino'
import { foldToken, SERVER_WORKSPACE, stateOf, TOKEN_RUN_ID, type TokenRecord } from './token-run.ts'

/** The token run is read at most this often, although every commit of any writer notifies. */
const LOOK_MS = 100
const AGAIN_MS = 1000

export interface TokenWatch {
  byDigest(digest: string): TokenRecord | undefined
  byId(tokenId: string): TokenRecord | undefined
  /** Reads what was written since, for a token that is not known yet. */
  refresh(): Promise<void>
  /** Whether any of them is valid now. */
  someValid(): boolean
  close(): void
}

/** Keeps the token run in mind, whichever server writes it; `changed` is called after each look that found something. */
export async function watchTokens(ledger: Ledger, log: Logger, changed: () => void): Promise<TokenWatch> {
  const view = ledger.in(SERVER_WORKSPACE)
  const tokens = new Map<string, TokenRecord>()
  const digests = new Map<string, string>()
  let seq = 0
  let looking: Promise<void> | undefined
  let lookedAt = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function read(): Promise<void> {
    const before = seq
    for await (const event of view.read(TOKEN_RUN_ID, { afterSeq: seq })) {
      foldToken(tokens, event)
      seq = event.ledger.seq
    }
    if (seq === before) return
    for (const { digest, tokenId } of tokens.values()) digests.set(digest, tokenId)
    changed()
  }

  /** One look at a time; who asks during one waits for the next, which sees all that was written before it asked. */
  async function refresh(): Promise<void> {
    await looking
    lookedAt = Date.now()
    looking ??= read().finally(() => (looking = undefined))
    await looking
  }

  function onWake(): void {
    if (timer) return
    timer = setTimeout(
      () => {
        timer = undefined
        refresh().catch((error: unknown) => {
          // Until it can be read, what is known counts.
          log.warn({ err: error }, 'the token run cannot be read; it is tried again')
          lookedAt = Date.now() + AGAIN_MS
          if (!isClosed) onWake()
        })
      },
      Math.max(0, lookedAt + LOOK_MS - Date.now()),
    )
    timer.unref()
  }

  // Before the first look, so that nothing is written in between unseen.
  const unwatch = view.watch(onWake)
  try {
    await refresh()
  } catch (error) {
    unwatch()
    throw error
  }
  const byId = (tokenId: string): TokenRecord | undefined => tokens.get(tokenId)
  return {
    byId,
    byDigest: (digest) => byId(digests.get(digest) ?? ''),
    refresh,
    someValid: () => [...tokens.values()].some((token) => stateOf(token, Date.now()) === 'valid'),
    close() {
      isClosed = true
      clearTimeout(timer)
      unwatch()
    },
  }
}
