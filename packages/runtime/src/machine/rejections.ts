import { isAbandonment } from './abandoned.ts'

/** Handler of a failed step that no code awaits. */
type OnUnhandled = (error: Error) => void

const owners = new WeakMap<object, OnUnhandled>()
let isListening = false

/**
 * A failed call that the code does not await ends its own run, and not the process with all other runs in it. Node reports
 * such a failure to the process only, so this listens there, and knows its own errors by identity.
 */
export function ownRejection(error: Error, onUnhandled: OnUnhandled): void {
  owners.set(error, onUnhandled)
  listen()
}

/** Rejections with an abandonment as their reason are those of code that was given up. */
export function listen(): void {
  if (isListening) return
  isListening = true
  process.on('unhandledRejection', onRejection)
}

function onRejection(reason: unknown): void {
  if (isAbandonment(reason)) return
  const owner = ownerOf(reason)
  if (owner) return owner(reason as Error)
  // Another listener decides, or the process is configured to continue.
  if (process.listenerCount('unhandledRejection') > 1 || mayGoOn()) return
  // As Node does where nothing listens.
  throw reason
}

/** Also of an error that code made of an owned one, with it as the cause. */
function ownerOf(reason: unknown): OnUnhandled | undefined {
  let at = reason
  while (typeof at === 'object' && at !== null) {
    const owner = owners.get(at)
    if (owner) return owner
    at = at instanceof Error ? at.cause : undefined
  }
  return undefined
}

const mayGoOn = (): boolean =>
  /--unhandled-rejections=(?:none|warn)\b/.test(
    [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '),
  )
