import { join } from 'node:path'
import { openLedger } from 'clew'
import { type Figure, inTempFolder, prose, seconds } from '../measure.ts'

const SUBJECT = 'customer-7'
const WORD = 'quokkafisher'
const BATCH = 500
/** Events of a run, and how many runs are about the subject. */
const RUN = 50
const THEIRS = 20

/** One subject out of many events: found by what runs declare and by every payload, erased, made physical. */
export async function eraseFigures(events: number): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const ledger = await openLedger(`sqlite:${join(folder, 'erase.db')}`)
    const every = Math.max(1, Math.floor(events / RUN / THEIRS))
    for (let n = 0; n < events; n += BATCH)
      await ledger.append(
        Array.from({ length: BATCH }, (_, i) => {
          const run = Math.floor((n + i) / RUN)
          const isTheirs = run % every === every - 1
          const [isFirst, isLast] = [(n + i) % RUN === 0, (n + i) % RUN === RUN - 1]
          return {
            eventType: isFirst
              ? 'system.workflow_started'
              : isLast
                ? 'system.workflow_completed'
                : 'execution.message',
            correlationId: `run-${run}`,
            payload: {
              ...(isFirst && { agent: 'desk', subjects: [isTheirs ? SUBJECT : `other-${run}`] }),
              content: isTheirs ? `${WORD} ${prose(300, i)}` : prose(300, (n + i) % 997),
            },
          }
        }),
      )
    await ledger.index()
    let erased = 0
    const took = await seconds(async () => {
      erased = (await ledger.erase({ subject: SUBJECT, paths: ['customer.id'] })).events
    })
    const { ok } = await ledger.verify(`run-${every - 1}`)
    if (!ok || (await ledger.search(WORD)).hits.length > 0)
      throw new Error('the erasure left something behind')
    await ledger.close()
    return [
      {
        name: `erasure of one subject (${erased} events) out of ${events.toLocaleString('en-US')}`,
        ours: `${took.toFixed(2)} s`,
        beside: 'promise 10 s out of 1,000,000',
        ratio: took,
        most: 10,
        unit: 's',
      },
    ]
  })
}
