import { deepStrictEqual } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openLedger } from 'clew'
import { fileBytes, type Figure, inTempFolder, micros, seconds } from '../measure.ts'

const EVENTS = 1000

/** Each event carries the whole list of messages so far, one KB of random text longer each time. */
export async function growingListFigures(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const path = join(folder, 'chat.db')
    const ledger = await openLedger(`sqlite:${path}`)
    const messages: { role: string; content: string }[] = []
    let given = 0
    const time = await seconds(async () => {
      for (let i = 0; i < EVENTS; i++) {
        messages.push({ role: i % 2 ? 'assistant' : 'user', content: randomBytes(512).toString('hex') })
        const payload = { model: 'any', messages }
        given += JSON.stringify(payload).length
        await ledger.record({ eventType: 'integration.call', correlationId: 'chat', payload })
      }
    })
    let read = 0
    for await (const event of ledger.read('chat')) {
      read++
      const expected = { model: 'any', messages: messages.slice(0, read) }
      deepStrictEqual(event.payload, expected)
      if (read % 100 === 0) deepStrictEqual(JSON.stringify(event.payload), JSON.stringify(expected))
    }
    deepStrictEqual(read, EVENTS)
    await ledger.close()
    const megabytes = fileBytes(path, `${path}-wal`) / 1e6
    return [
      {
        name: '1,000 events, each with the whole message list so far',
        ours: `${megabytes.toFixed(2)} MB on disk, ${micros(time, EVENTS)} an event`,
        beside: `${(given / 1e6).toFixed(0)} MB as given`,
        ratio: megabytes,
        most: 3,
        unit: 'MB',
      },
    ]
  })
}
