/** A session of `TraceEmitter`, as much of it as a recorder of foreign calls needs: who began it ends it (T1). */
export interface SessionTrace {
  /** The run of the session: runs that are begun here lie below it. */
  readonly sessionId?: string | undefined
  startStep(step: { readonly stepType: string }): ActiveStep | Promise<ActiveStep>
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
