export interface StoragePart {
  readonly name: string
  readonly bytes: number
}

export interface Scrubbed {
  /** Why files may still hold bytes that no reader can reach, and what to do; null if none are left. */
  readonly unfinished: string | null
}

/** Physical upkeep. Nothing here changes what can be read; a store without a disk does nothing. */
export interface Disk {
  /** How long one transaction may take next to other writers, and how many times as long they then have. */
  readonly pace: { readonly batchMs: number; readonly rest: number }
  /** Writes buffered changes back, so that appends need not; called between the batches of long work. Never waits. */
  flush(): void
  /**
   * Returns some free space to the file system; false if there is none left. With `isShared`, nothing is done that
   * other writers would wait for.
   */
  reclaim(isShared: boolean): Promise<boolean>
  /**
   * Removes what deleted bytes are left in files: write-ahead log and free pages. Can be repeated. `rewrite` rewrites tables where a database otherwise leaves bytes in pages that are in use.
   */
  scrub(options: { readonly rewrite: boolean }): Promise<Scrubbed>
}

/** For a store in memory. */
export const noDisk: Disk = {
  pace: { batchMs: 2, rest: 1 },
  flush() {},
  reclaim: async () => false,
  scrub: async () => ({ unfinished: null }),
}
