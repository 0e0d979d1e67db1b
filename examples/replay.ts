/**
 * From a failure to a regression test. A night guard asks a model and a weather station. One night the
 * station answers oddly and the guard falls over it. What happened is on record: it happens again offline,
 * the mended code is held against it, goes on live from the very step that failed, and the run that comes of
 * that is kept as a fixture.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, openLedger, replay } from 'clew'
import { expectReplay, formatReport } from 'clew/testing'
import { chat } from './model/chat.ts'
import type { ChatMessage } from './model/protocol.ts'
import { startScriptedModel } from './model/scripted-model.ts'

const KEY = 'sk-proj-4bWx72nRqy5Mt8Ku1Zc6HvJ9fS3gD'

interface Forecast {
  readonly station: string
  readonly hours: number[] | null
}

interface Question {
  readonly place: string
  readonly modelUrl: string
  readonly stationUrl: string
}

/** The guard, with the one line that is going to be mended. */
const guardWith = (coldest: (forecast: Forecast) => number | null) =>
  agent('night-guard', async (run, { place, modelUrl, stationUrl }: Question) => {
    const ask = async (messages: ChatMessage[]): Promise<ChatMessage> => {
      const headers = { authorization: `Bearer ${process.env['MODEL_KEY']}` }
      const body = { model: 'gpt-4.1-mini', messages, tools: ['forecast'] }
      const answer = await run.effect('model', { url: modelUrl, headers, body }, (request, call) =>
        chat(request, { idempotencyKey: call.idempotencyKey, signal: call.signal }),
      )
      return answer.message
    }
    const messages: ChatMessage[] = [
      { role: 'user', content: `Will the owlets of ${place} be warm tonight?` },
    ]
    const wish = await ask(messages)
    const forecast = await run.effect('forecast', { place }, async ({ place }) => {
      const response = await fetch(`${stationUrl}/${place}`)
      return (await response.json()) as Forecast
    })
    const degrees = await run.step('coldest', forecast, coldest)
    const told = degrees === null ? 'no forecast' : `${degrees} degrees`
    const id = wish.tool_calls?.[0]?.id
    const said = await ask([...messages, wish, { role: 'tool', content: told, tool_call_id: id }])
    return { at: run.now(), degrees, said: said.content }
  })

const broken = guardWith(({ hours }) => Math.min(...(hours as number[])))
const mended = guardWith(({ hours }) => (hours && hours.length > 0 ? Math.min(...hours) : null))

process.env['MODEL_KEY'] = KEY
const folder = mkdtempSync(join(tmpdir(), 'clew-replay-'))
const model = await startScriptedModel({
  apiKey: KEY,
  rules: [
    (messages) => (messages.length === 1 ? { call: [{ tool: 'forecast', with: {} }] } : undefined),
    (messages) => ({ say: `I was told: ${messages.at(-1)?.content}.` }),
  ],
})
// The odd answer: no hours at all, where a list was always given.
const station = createServer((_, response) => response.end(JSON.stringify({ station: 'barn', hours: null })))
station.listen(0, '127.0.0.1')
await once(station, 'listening')
const stationUrl = `http://127.0.0.1:${(station.address() as AddressInfo).port}`
const ledger = await openLedger(`sqlite:${join(folder, 'clew.db')}`)
try {
  // 1. It fails.
  const question = { place: 'the barn', modelUrl: model.url, stationUrl }
  const night = await broken.start(ledger, question, { runId: 'night-1' })
  console.log(`recorded: ${night.status}, ${night.error?.message}\n`)
  assert.equal(night.status, 'failed')
  assert.equal(model.requests, 1)

  // 2. It fails again, from the record alone: the station is closed and the model is not asked.
  station.closeAllConnections()
  station.close()
  const again = await replay(broken, { ledger, runId: 'night-1' })
  console.log(`${formatReport(again)}\n`)
  assert.equal(again.verdict, 'identical')
  assert.deepEqual(again.outcome, again.recorded)
  assert.equal(again.outcome.error?.message, night.error?.message)
  assert.equal(model.requests, 1)

  // 3. The mended code parts from the record where it was mended, and nowhere before.
  const held = await replay(mended, { ledger, runId: 'night-1' })
  console.log(`${formatReport(held)}\n`)
  assert.deepEqual(
    [held.verdict, held.divergences[0]?.kind, held.divergences[0]?.stepId],
    ['diverged', 'output', 'coldest#0'],
  )
  assert.equal(model.requests, 1)

  // 4. What if it had been mended that night? What was before that step is kept; the model is asked again, for real.
  const whatIf = await replay(mended, { ledger, runId: 'night-1', mode: 'what-if', at: { step: 'coldest' } })
  assert.deepEqual([whatIf.outcome.status, model.requests], ['completed', 2])
  const fork = whatIf.runId ?? ''
  const { first, deltas } = await ledger.diff('night-1', fork)
  console.log(`what if: ${whatIf.outcome.status}, ${JSON.stringify(whatIf.outcome.output)}`)
  console.log(`parts at ${first?.received?.label}, ${deltas.steps.delta} more step\n`)
  assert.equal(first?.received?.stepId, 'coldest#0')

  // 5. That run is the test from now on: `clew export --run RUN --redacted -o FILE` does the same.
  const fixture = join(folder, 'odd-forecast.ndjson')
  writeFileSync(fixture, (await Array.fromAsync(ledger.export({ runId: fork, redacted: true }))).join(''))
  assert.ok(!readFileSync(fixture, 'utf8').includes(KEY))
  await model.close()
  await expectReplay(mended, fixture)
  await assert.rejects(expectReplay(broken, fixture), {
    name: 'AssertionError',
    message: /output: .*\n.*coldest#0/,
  })
  console.log(`✓ ${fixture} replays, and would have caught the old code`)
} finally {
  await ledger.close()
  await model.close().catch(() => {})
  station.close()
  rmSync(folder, { recursive: true, force: true })
}
