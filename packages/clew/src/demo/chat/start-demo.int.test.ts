import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BIN } from '../../../test/run-clew.ts'

let folder: string
let demo: ChildProcess
let url: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-demo-'))
  const args = [BIN, 'demo', '--store', `sqlite:${join(folder, 'demo.db')}`, '--port', '0']
  const env = { ...process.env, CLEW_DEMO_FAST: '1', OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' }
  demo = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let told = ''
  for await (const text of demo.stdout?.setEncoding('utf8') ?? []) {
    told += String(text)
    const found = /http:\/\/[\d.]+:\d+/.exec(told)?.[0]
    if (found === undefined) continue
    url = found
    break
  }
})
afterEach(() => {
  demo.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const pidOfAgents = async (): Promise<number> =>
  ((await (await fetch(`${url}/v1/demo`)).json()) as { chat: { pid: number } }).chat.pid

/** A session on the first question means that the agents have begun. */
async function untilAnswered(): Promise<void> {
  const path = `${url}/api/workspaces/default/streams/field-notes/messages`
  for (;;) {
    const { messages } = (await (await fetch(path)).json()) as { messages: { sessionId: string | null }[] }
    if (messages.some(({ sessionId }) => sessionId !== null)) return
    await sleep(50)
  }
}
async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await sleep(50)
  }
}

describe('clew demo', () => {
  it('answers, and ends with all of its processes on Ctrl-C', async () => {
    await untilAnswered()
    const pid = await pidOfAgents()
    demo.kill('SIGINT')
    const [code, signal] = (await once(demo, 'exit')) as [number | null, string | null]
    expect([code, signal]).toEqual([0, null])
    await untilGone(pid)
  })

  it('leaves no agents behind when it is killed, even while they begin', async () => {
    const pid = await pidOfAgents()
    demo.kill('SIGKILL')
    await untilGone(pid)
  })
})
