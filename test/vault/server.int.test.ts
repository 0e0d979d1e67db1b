import { agent, replay } from '@clew/runtime'
import type { Ledger } from 'clew'
import { expect, it } from 'vitest'
import { createControl } from '../../packages/clew/src/control/create-control.ts'
import type { Runnable } from '../../packages/clew/src/control/run-control.ts'
import { serve } from '../server/served.ts'

const KEY = ['sk', 'ant', `api03-${'aB3dE5gH7jK9'.repeat(7)}AbCdEf-AA`].join('-')

it('P2 a server over a ledger with a vault resumes and replays with secrets, and sends none', async () => {
  const saw: string[] = []
  const keyed = agent('keyed', async (run, input: { key: string }) => {
    const got = await run.effect('key', null, () => ({ text: `use ${KEY}` }))
    await run.interrupt('Go on?')
    saw.push(input.key, got.text)
    return { got, key: input.key }
  })
  const runnable: Runnable = {
    name: 'keyed',
    kind: 'function',
    resume: keyed.resume,
    fork: () => Promise.reject(new Error('not asked for')),
    replay: (ledger, runId, request) =>
      replay(keyed, { ledger, runId, mode: request.mode, onEvent: () => {} }),
  }
  const agents = { names: ['keyed'], of: () => runnable }
  const controlOf = (view: Ledger) => createControl(view, { agents })
  const prepare = (ledger: Ledger) => keyed.start(ledger, { key: KEY }, { runId: 'r' })
  const served = await serve({ controlOf }, prepare, 'memory:', { vault: true })
  try {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const answers: string[] = []
    const ask = async (path: string, init: RequestInit = {}): Promise<string> => {
      const response = await served.fetch(path, init)
      const text = await response.text()
      expect([path, response.status, text.slice(0, 200)]).toEqual([path, 200, expect.any(String)])
      answers.push(text)
      return text
    }
    const resumed = await ask('/v1/runs/r/resume', { ...post, body: JSON.stringify({ answer: 'yes' }) })
    expect(resumed).toContain('"completed"')
    expect(saw).toEqual([KEY, `use ${KEY}`])
    const replayed = await ask('/v1/runs/r/replay', { ...post, body: '{}' })
    expect(replayed).toContain('"identical"')
    expect(saw).toHaveLength(4)
    for (const view of ['events?restored=true', 'events', 'steps', 'transcript', 'timeline'])
      answers.push(await (await served.fetch(`/v1/runs/r/${view}`)).text())
    expect(answers.join('')).not.toContain(KEY.slice(20))
    expect(answers.join('')).toContain('[redacted:')
  } finally {
    await served.close()
  }
})
