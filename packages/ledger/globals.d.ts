/** The few globals that Node and every browser share; the build of this pure package sees no others. */
interface AbortSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

declare class AbortController {
  readonly signal: AbortSignal
  abort(): void
}

declare class URL {
  constructor(href: string)
  readonly href: string
}

declare class TextDecoder {
  constructor(label: string, options: { fatal: boolean })
  decode(chunk: Uint8Array, options: { stream: boolean }): string
}
