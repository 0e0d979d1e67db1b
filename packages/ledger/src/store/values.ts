import type { StoredNode } from '../hash/tree.ts'

/** A scope from which events or payloads were removed since its values were last swept; `mark` changes with each removal. */
export interface PendingScope {
  readonly scope: number
  readonly mark: number
}

export interface DropValues {
  readonly scope: number
  readonly ids: readonly number[]
  /** Nothing is dropped if a body of the scope after this position refers to values. */
  readonly upToPosition: number
  /** With it the sweep of the scope ends here; the scope stays pending if its mark has changed. */
  readonly mark?: number | undefined
}

/** Values that payloads of one scope (a thread, or a run without one) share (L8). */
export interface Values {
  read(ids: readonly number[]): Promise<ReadonlyMap<number, StoredNode>>
  pending(): Promise<PendingScope[]>
  /** Bodies of the scope that refer to values, by position. */
  references(
    scope: number,
    afterPosition: number,
    limit: number,
  ): Promise<{ readonly position: number; readonly body: string }[]>
  /** Values of the scope, by id. */
  list(
    scope: number,
    afterId: number,
    limit: number,
  ): Promise<{ readonly id: number; readonly body: string }[]>
  /** One transaction; false if nothing was dropped. */
  drop(drop: DropValues): Promise<boolean>
}
