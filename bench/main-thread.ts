import type { Browser } from 'playwright-core'

/**
 * What the main thread of a page does in one task, in processor time: on a machine that has other things to do as well,
 * the time that passes says little. While a task lasts, nothing on the page answers.
 */
export interface MainThread {
  /** Milliseconds of the longest task while `work` lasts. */
  longestTask(work: () => Promise<unknown>): Promise<number>
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Microseconds of the thread, where the system counts them. */
  readonly tdur?: number
  readonly dur?: number
  readonly args?: { readonly name?: string }
}

export async function watchMainThread(browser: Browser): Promise<MainThread> {
  const devtools = await browser.newBrowserCDPSession()
  let events: TraceEvent[] = []
  devtools.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) events.push(event as unknown as TraceEvent)
  })
  return {
    async longestTask(work) {
      events = []
      const includedCategories = ['toplevel', 'disabled-by-default-devtools.timeline']
      await devtools.send('Tracing.start', {
        transferMode: 'ReportEvents',
        traceConfig: { includedCategories, recordMode: 'recordAsMuchAsPossible' },
      })
      await work()
      const complete = new Promise((resolve) => devtools.once('Tracing.tracingComplete', resolve))
      await devtools.send('Tracing.end')
      await complete
      const place = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
      const named = events.filter(
        ({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain',
      )
      const mains = new Set(named.map(place))
      const tasks = events.filter((event) => event.name === 'RunTask' && mains.has(place(event)))
      if (tasks.length === 0) throw new Error('The browser told of no task: it names them otherwise now')
      return tasks.reduce((most, { tdur, dur }) => Math.max(most, (tdur ?? dur ?? 0) / 1000), 0)
    },
  }
}
