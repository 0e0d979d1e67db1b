/** The whole conversation is sent with every model call, and recorded each time. It is stored once. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from 'clew'

const TURNS = 400
const WORDS = ['owl', 'forest', 'night', 'feather', 'hunt', 'river', 'moon', 'quiet', 'branch', 'wing']
const sentence = (turn: number) =>
  Array.from({ length: 60 }, (_, i) => WORDS[(turn * 7 + i * i) % WORDS.length]).join(' ')

const folder = mkdtempSync(join(tmpdir(), 'clew-chat-'))
try {
  const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
  const messages: { role: string; content: string }[] = []
  const grownBy: number[] = []
  let sent = 0
  let before = (await ledger.stats()).bytes

  for (let turn = 0; turn < TURNS; turn++) {
    messages.push({ role: turn % 2 ? 'assistant' : 'user', content: `${turn}: ${sentence(turn)}` })
    const payload = { service: 'model', operation: 'chat', request: { messages } }
    await ledger.record({ eventType: 'integration.call', correlationId: 'chat-1', payload })
    sent += JSON.stringify(payload).length
    if (turn % 100 === 99) {
      const { bytes } = await ledger.stats()
      grownBy.push((bytes - before) / 100)
      before = bytes
    }
  }

  const { bytes, values } = await ledger.stats()
  const kb = (n: number) => `${Math.round(n / 1024).toLocaleString('en')} KB`
  console.log(`handed in: ${kb(sent)}   the conversation itself: ${kb(JSON.stringify(messages).length)}`)
  console.log(`stored:    ${kb(bytes)} in ${values} shared values`)
  console.log(`a turn:    ${grownBy.map((n) => `${(n / 1024).toFixed(1)} KB`).join(', ')} in each hundred`)

  // Constant cost (L8): a late turn costs what an early one did, and all is far less than what was handed in.
  const [early = 0, , , late = 0] = grownBy
  assert.ok(late < early * 2, 'a late turn costs about what an early one did')
  assert.ok(bytes < sent / 10, 'what repeats is stored once')

  // And it all comes back.
  let last: unknown
  for await (const event of ledger.read('chat-1', { afterSeq: TURNS - 1 })) last = event.payload['request']
  assert.deepEqual(last, { messages })
  assert.equal((await ledger.verify()).ok, true)
  await ledger.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
