/** T1, as much of it as a recorder of foreign calls needs; `TraceEmitter` will hand out the real one. */
export interface SessionTrace {
  startStep(step: { readonly stepType: string }): ActiveStep | Promise<ActiveStep>
  notifyCompleted(): void | Promise<void>
  notifyFailed(error: { readonly message: string }): void | Promise<void>
}

export interface ActiveStep {
  /** The text so far: losing one does no harm (T4). Nothing of it is stored. */
  progress(progress: { readonly content: string }): void
  complete(completion: StepCompletion): void | Promise<void>
}

export interface StepCompletion {
  readonly content?: string | undefined
  readonly sources?: readonly StepSource[] | undefined
  readonly messageId?: string | undefined
}

/** T6. */
export interface StepSource {
  readonly type: string
  readonly title: string | null
  readonly url: string | null
  readonly domain: string | null
  readonly snippet: string | null
}
