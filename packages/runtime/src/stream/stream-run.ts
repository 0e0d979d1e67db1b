import type { RunOptions } from '../run/run-options.ts'
import type { RunResult } from '../run/result.ts'
import { openStream, type RunStream } from './run-stream.ts'
import type { StreamMode } from './stream-items.ts'
import { createItemEmitter } from './item-emitter.ts'

export interface StreamRunOptions extends RunOptions {
  readonly mode?: StreamMode | readonly StreamMode[] | undefined
  readonly children?: boolean | undefined
}

export interface StreamedRun<Result extends RunResult> {
  readonly runId: string
  go(options: RunOptions): Promise<Result>
}

/** Stream of a new or resumed run. `open` returns the run id and the function that drives the run. */
export function streamRun<Item, Result extends RunResult>(
  open: () => Promise<StreamedRun<Result>>,
  options: StreamRunOptions,
  isRecorded: boolean,
): RunStream<Item, Result> {
  const { mode = 'updates', children = false, signal, ...rest } = options
  return openStream<Item, Result>(async (tell, stopping) => {
    const { runId, go } = await open()
    const teller = createItemEmitter({
      runId,
      mode,
      children,
      isRecorded,
      tell: tell as (item: unknown) => void,
    })
    const result = await go({ ...rest, signal: stopping, listener: teller.listener })
    teller.end(result)
    return result
  }, signal)
}
