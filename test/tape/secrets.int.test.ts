import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { agent, type TapeOptions } from '@clew/runtime'
import { type Ledger, openLedger } from 'clew'
import { said } from './lives.ts'
import { startServer, stream } from './server.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Put together here, so that this file holds none. */
const key = (tail: string): string => ['sk', 'proj', `${tail}Aq3v8Zk1Lm9Xc7Rt5Yb2Nw4Ps6Du0Ef8Gh1J`].join('-')

async function onFile(
  work: (ledger: Ledger) => Promise<void>,
): Promise<{ readonly holds: (text: string) => boolean }> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-tape-'))
  folders.push(folder)
  const ledger = await openLedger(`sqlite:${join(folder, 'tape.db')}`, {
    redact: { rules: [{ kind: 'badge', key: /^badge$/ }] },
  })
  try {
    await work(ledger)
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
    return { holds: (text) => files.some((bytes) => bytes.includes(text)) }
  } finally {
    await ledger.close()
  }
}

const cut = (text: string, size: number): string[] => text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []

describe('secrets on tape', () => {
  it('P1 D4 appear nowhere in the file: headers, address, request and response, also across chunks and tokens', async () => {
    const secrets = {
      header: key('1'),
      cookie: 'session-of-the-owl-4711',
      query: 'hunter2hunter2',
      shaped: key('2'),
      request: key('3'),
      badge: 'B-4711-owl',
      form: 'correct-horse-battery-9',
      answer: key('4'),
      answerBadge: 'B-0815-mouse',
      streamed: key('5'),
      spelled: key('6'),
      setCookie: 'cookie-of-the-mouse-0815',
    }
    const events = [
      ...cut(`data: {"note":"the key is ${secrets.streamed} indeed"}\n\n`, 7),
      ...cut(secrets.spelled, 9).map(
        (content) => `data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`,
      ),
      'data: [DONE]\n\n',
    ]
    await using server = await startServer((seen, response) => {
      if (seen.url.startsWith('/stream')) return stream(response, events, { gapMs: 1 })
      const body = JSON.stringify({ found: `a ${secrets.answer}`, badge: secrets.answerBadge })
      const headers = { 'content-type': 'application/json', 'set-cookie': `sid=${secrets.setCookie}` }
      return void response.writeHead(200, headers).end(body)
    })
    const seen: string[] = []
    const leaky = agent(
      'leaky',
      async () => {
        const answer = await fetch(`${server.url}/ask?password=${secrets.query}&q=${secrets.shaped}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${secrets.header}`,
            'x-api-key': secrets.header,
            cookie: `theme=dark; sid=${secrets.cookie}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({
            note: `my key: ${secrets.request}`,
            badge: secrets.badge,
            plain: 'feathers',
          }),
        })
        seen.push(await answer.text())
        const form = new URLSearchParams({ user: 'owl', password: secrets.form })
        await (await fetch(`${server.url}/form`, { method: 'POST', body: form })).text()
        seen.push(await (await fetch(`${server.url}/stream`)).text())
        return 'done'
      },
      { recordFetch: true },
    )
    const { holds } = await onFile(async (ledger) => {
      expect(said(await leaky.start(ledger, null))).toEqual(['completed', undefined])
    })
    expect(holds('feathers')).toBe(true)
    expect(Object.entries(secrets).filter(([, secret]) => holds(secret))).toEqual([])
    // A part of it would do harm as well.
    for (const part of cut(secrets.spelled, 9).slice(1, -1))
      expect([part, holds(part)]).toEqual([part, false])
    expect(seen[0]).toContain(secrets.answer)
    expect(seen[1]).toBe(events.join(''))
  })

  it('P2 a response that was redacted as a whole value is not handed to code on resume; text is, with a warning; refresh asks again', async () => {
    const secret = key('7')
    let body = `{"key":"${secret}","fine":true}`
    let type = 'application/json'
    await using server = await startServer((_seen, response) =>
      stream(response, cut(body, 12), { type, gapMs: 1 }),
    )
    const code = (recordFetch: true | TapeOptions) => {
      const came: string[] = []
      const taped = agent(
        'taped',
        async (run) => {
          came.push(await (await fetch(server.url)).text())
          await run.interrupt('go on?')
          return came.length
        },
        { recordFetch },
      )
      return { taped, came }
    }
    await onFile(async (ledger) => {
      const { taped, came } = code(true)
      const { runId } = await taped.start(ledger, null)
      const blocked = await taped.resume(ledger, runId, { answer: 'yes' })
      expect([blocked.status, blocked.divergence]).toMatchObject([
        'blocked',
        {
          kind: 'redacted',
          stepId: 'fetch body@0',
          expected: '$.body.key',
        },
      ])
      expect(came.length).toBe(1)
      const given = await taped.resume(ledger, runId, { secrets: [secret] })
      expect([given.status, came[1]]).toEqual(['completed', body])
      ;[body, type] = [`your new key is ${secret}, keep it`, 'text/plain']
      const text = code(true)
      const { runId: other } = await text.taped.start(ledger, null)
      const done = await text.taped.resume(ledger, other, { answer: 'yes' })
      expect([said(done), text.came[1]]).toEqual([
        ['completed', undefined],
        expect.stringMatching(/^your new key is \[redacted:[a-z0-9-]+:\w+\], keep it$/),
      ])
      expect(done.warnings).toEqual([expect.stringContaining('$.body of step fetch body@0')])
      const fresh = code({ refresh: true })
      const paused = await fresh.taped.start(ledger, null)
      const before = server.seen.length
      const ended = await fresh.taped.resume(ledger, paused.runId, { answer: 'yes' })
      expect(said(ended)).toEqual(['completed', undefined])
      expect(fresh.came[1]).toContain(secret)
      expect(server.seen.length).toBe(before + 1)
    })
  })
})
