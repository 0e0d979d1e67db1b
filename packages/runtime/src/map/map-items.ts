import { createOptionCheck } from '../options/known-options.ts'
import { ClewError, type Ledger } from '@clew/ledger'
import { checkBudget } from '../options/check-options.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { Program } from '../machine/program.ts'
import type { RunResult } from '../run/result.ts'
import { runUnrecorded } from '../run/run-unrecorded.ts'
import { mapOnLedger } from './map-on-ledger.ts'
import { createMapResult, type MapItem, type MapResult } from './map-result.ts'
import { zipInputs } from './zip-inputs.ts'

/** A list of items; or lists to be gone through side by side, with everything else the same in each item. */
export type MapInput<Item> =
  | readonly Item[]
  | { readonly [Name in keyof Item]: Item[Name] | readonly NonNullable<Item[Name]>[] }

export interface MapOptions extends Pick<RunOptions, 'signal' | 'budget' | 'onBusy' | 'suspendAlways'> {
  /** Items at work at the same time; default 8. */
  readonly concurrency?: number | undefined
  /** Run id of the map. With the id of a map that has not ended, only its missing items are run. */
  readonly runId?: string | undefined
  readonly threadId?: string | undefined
  /** An ended map whose completed items are restored; the others run again. */
  readonly retryOf?: string | undefined
  /** No item is begun after the first that failed; those at work come to their end. */
  readonly stopOnError?: boolean | undefined
  /** Answers to questions of items that paused, by the id of the pause. */
  readonly answers?: Readonly<Record<string, unknown>> | undefined
  /** Originals of redacted secrets, for items that are gone on with: as in `ResumeOptions`. */
  readonly secrets?: readonly string[] | undefined
  /** Person who answers. */
  readonly by?: string | undefined
  /** Names of the zipped inputs that are lists; default: every list. */
  readonly over?: readonly string[] | undefined
  /** Called when an item has ended, in the order of the ends. */
  readonly onProgress?: ((progress: MapProgress) => void) | undefined
}

export interface MapProgress {
  readonly item: MapItem
  readonly done: number
  readonly total: number
}

/** Program to map, and the conversion of its output. */
export interface Mapped {
  readonly program: Program
  readonly toOutput: (output: unknown) => unknown
}

const checkMapOptions = createOptionCheck<MapOptions>({
  concurrency: true,
  runId: true,
  threadId: true,
  retryOf: true,
  stopOnError: true,
  answers: true,
  secrets: true,
  by: true,
  over: true,
  onProgress: true,
  signal: true,
  budget: true,
  onBusy: true,
  suspendAlways: true,
})

/** R8, with a ledger and without one. */
export async function mapItems<Output>(
  mapped: Mapped,
  ledger: Ledger | undefined,
  input: readonly unknown[] | Readonly<Record<string, unknown>>,
  options: MapOptions = {},
): Promise<MapResult<Output>> {
  const { concurrency = 8 } = options
  checkMapOptions(options, 'This map')
  checkBudget(options.budget, 'this map')
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new ClewError('bad_option', 'A map needs a concurrency of 1 or more', 'Give a whole number.', {
      concurrency,
    })
  const inputs: readonly unknown[] = Array.isArray(input)
    ? input
    : zipInputs(input as Readonly<Record<string, unknown>>, { over: options.over })
  if (ledger) return mapOnLedger(mapped, ledger, inputs, options) as Promise<MapResult<Output>>
  const items = await inTurns(inputs, options, async (index) => {
    const result = await runUnrecorded(mapped.program, inputs[index], {
      signal: options.signal,
      budget: options.budget,
    })
    return toItem(index, result, mapped)
  })
  return createMapResult(items as MapItem<Output>[])
}

export const toItem = (
  index: number,
  { runId, status, output, error, pauses, log, warnings }: RunResult,
  { toOutput }: Mapped,
): MapItem => ({
  index,
  status,
  output: status === 'completed' ? toOutput(output) : undefined,
  error: error && error.toJSON(),
  pauses,
  runId,
  log,
  restored: false,
  warnings,
})

/** Does all items, so many at a time, each beginning in its order. The outcomes are in the order of the items. */
export async function inTurns(
  inputs: readonly unknown[],
  { concurrency = 8, signal, stopOnError = false, onProgress }: MapOptions,
  work: (index: number) => Promise<MapItem>,
): Promise<MapItem[]> {
  const items = inputs.map((_, index): MapItem => ({ ...UNSTARTED, index }))
  let next = 0
  let done = 0
  let isStopped = false
  let failure: { error: unknown } | undefined

  async function workOn(): Promise<void> {
    while (next < items.length && !isStopped && !signal?.aborted) {
      const index = next++
      try {
        const item = await work(index)
        items[index] = item
        if (item.status === 'failed' && stopOnError) isStopped = true
        onProgress?.({ item, done: ++done, total: items.length })
      } catch (error) {
        // Recording or a listener failed, not the item: no further item is started, running ones end.
        failure ??= { error }
        isStopped = true
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, workOn))
  if (failure) throw failure.error
  return items
}

const UNSTARTED = {
  status: 'unstarted',
  output: undefined,
  error: null,
  pauses: [],
  runId: null,
  log: null,
  restored: false,
  warnings: [],
} as const
