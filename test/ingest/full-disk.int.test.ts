import { once } from 'node:events'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLedger } from 'clew'
import { expect, it, onTestFinished } from 'vitest'
import { BIN } from '../../packages/clew/test/run-clew.ts'

const LIMITED = new URL('full-disk.ts', import.meta.url).href
const SPANS = 40

async function serveLimited(file: string): Promise<{ url: string; close(): Promise<void> }> {
  const args = [BIN, 'serve', '--json', '--no-page', '--port', '0']
  const child: ChildProcess = spawn(process.execPath, [...args, '--store', `sqlite:${file}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: `--import=${LIMITED}` },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout as NodeJS.ReadableStream), 'line')) as [string]
  return {
    url: (JSON.parse(line) as { url: string }).url,
    async close() {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
  }
}

const hex = (n: number, digits: number): string => (n + 1).toString(16).padStart(digits, '0')

/** A whole trace in one request, root last; some 2 KB a span, and nothing that already exists. */
function traceBody(n: number): string {
  const span = (at: number) => ({
    traceId: hex(n, 32),
    spanId: hex(n * 1000 + at, 16),
    ...(at > 0 && { parentSpanId: hex(n * 1000, 16) }),
    name: `span ${at}`,
    startTimeUnixNano: String(1_763_190_000_000_000_000n + BigInt(at)),
    endTimeUnixNano: String(1_763_190_001_000_000_000n + BigInt(at)),
    attributes: [{ key: 'note', value: { stringValue: `${n}.${at} `.repeat(400) } }],
  })
  const spans = Array.from({ length: SPANS }, (_, at) => span(SPANS - 1 - at))
  return JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }] })
}

function numberIn(file: string, sql: string): number {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 30_000 })
  try {
    return Object.values(db.prepare(sql).get() ?? {})[0] as number
  } finally {
    db.close()
  }
}

it('A2 OTLP on a full disk is 503 with a time to come back, nothing is half-written, and the same request succeeds when there is room', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-full-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'ledger.db')
  const index = `${file}.search.db`
  const server = await serveLimited(file)
  const send = async (n: number) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}/v1/traces`, { method: 'POST', headers, body: traceBody(n) })
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() }
  }

  const isMade = "SELECT count(*) FROM sqlite_master WHERE name = 'state'"
  while (!existsSync(index) || numberIn(index, isMade) === 0) await sleep(20)
  writeFileSync(`${index}.full`, '')
  expect(await send(0)).toMatchObject({ status: 200, text: '{}' })
  writeFileSync(`${file}.full`, '')
  const taken = [0]
  let full
  // Pages that were free are used up first.
  for (let n = 1; !full && n < 20; n++) {
    const answer = await send(n)
    if (answer.status === 200) taken.push(n)
    else full = { n, answer }
  }
  if (!full) throw new Error('The disk was never full.')
  const refused = { status: 503, retryAfter: '2', text: expect.stringContaining('no room left') }
  expect(full.answer).toMatchObject(refused)
  // It stays so, and costs what stands nothing: what is there is read as before.
  expect(await send(full.n)).toMatchObject(refused)
  expect((await fetch(`${server.url}/v1/runs/${hex(full.n, 32)}`)).status).toBe(404)
  expect((await fetch(`${server.url}/v1/runs/${hex(0, 32)}`)).status).toBe(200)
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)

  rmSync(`${file}.full`)
  expect(await send(full.n)).toMatchObject({ status: 200, text: '{}' })
  expect(await send(full.n)).toMatchObject({ status: 200, text: '{}' })
  // The index had no room either; it goes on by itself, though nobody searches.
  while (!existsSync(`${index}.met`)) await sleep(20)
  rmSync(`${index}.full`)
  const newest = numberIn(file, 'SELECT max(position) FROM events')
  while (numberIn(index, 'SELECT position FROM state') < newest) await sleep(20)
  await server.close()

  const ledger = await openLedger(`sqlite:${file}`)
  onTestFinished(() => ledger.close())
  const { runs } = await ledger.listRuns({ limit: 100 })
  expect(runs.map(({ runId, steps, status }) => `${runId} ${steps} ${status}`).toSorted()).toEqual(
    [...taken, full.n].map((n) => `${hex(n, 32)} ${SPANS} completed`).toSorted(),
  )
  const counts = runs.map(({ events }) => events)
  expect(new Set(counts).size).toBe(1)
  expect(await ledger.verify(undefined, { projections: true })).toMatchObject({ ok: true, problems: [] })
})
