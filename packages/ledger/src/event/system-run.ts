/** Ids of system runs begin with this: records that belong to no agent's run, such as the messages of a stream. */
export const SYSTEM_RUN_PREFIX = 'clew:'

/** `clew:<kind>/<name>`, or `clew:<kind>` for the only one of its kind. */
export const systemRunId = (kind: string, name?: string): string =>
  `${SYSTEM_RUN_PREFIX}${kind}${name === undefined ? '' : `/${name}`}`

export const isSystemRun = (runId: string): boolean => runId.startsWith(SYSTEM_RUN_PREFIX)

/** Ids from one text on and before another. */
export interface IdRange {
  readonly from: string
  readonly to: string
}
/** All system runs, and all of a kind: `;` follows `:`, and `0` follows `/`. */
export const SYSTEM_RUNS: IdRange = { from: SYSTEM_RUN_PREFIX, to: 'clew;' }
export const systemRunRange = (kind: string): IdRange => ({
  from: systemRunId(kind, ''),
  to: `${systemRunId(kind)}0`,
})
