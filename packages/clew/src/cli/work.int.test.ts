import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { createControlledRuns } from '../../test/controlled-runs.ts'
import { BIN } from '../../test/run-clew.ts'

const runs = createControlledRuns()
const { clew, data, file, spawned, statusOf } = runs
writeFileSync(file('job.ts'), `export { slow } from './agents.ts'\n`)
afterAll(() => runs.remove())

interface Outcome {
  readonly run: { readonly runId: string; readonly status: string; readonly waiting?: boolean }
  readonly output: unknown
}

describe('W1 clew start', () => {
  it('W1 submits a run that a worker executes, and clew result waits for it', async () => {
    const first = await data<Outcome>(
      'start',
      'slow',
      '--run-id',
      'job-1',
      '--queue',
      'mail',
      '--tag',
      'a=1,b=2',
    )
    expect(first).toMatchObject({
      run: { runId: 'job-1', status: 'pending', waiting: true, queue: 'mail', tags: { a: '1', b: '2' } },
      output: null,
    })
    expect((await clew('start', 'slow', '--run-id', 'job-1', '--queue', 'mail')).code).toBe(0)
    const other = await clew('start', 'slow', '--run-id', 'job-1', '--input', '{"other":true}')
    expect([other.code, other.stderr]).toEqual([expect.any(Number), expect.stringContaining('another input')])
    expect((await clew('doctor')).stdout).toMatch(/1 run waits for agent slow.*unserved/)
    expect((await clew('runs')).stdout).toContain('pending (unserved)')
    expect((await clew('queue', 'list')).stdout).toMatch(/mail +1 waiting[^]*slow/)
    expect((await clew('worker', '--agent', './job.ts', '--once')).code).toBe(0)
    const done = await data<Outcome>('result', 'job-1', '--wait', '60000')
    expect(done).toMatchObject({ run: { status: 'completed' }, output: 'all read' })
  })

  it('W1 refuses a tag without a value, and says what queues are for', async () => {
    const wrong = await clew('start', 'slow', '--run-id', 'job-2', '--tag', 'foo')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"foo" is not name=value')])
    expect((await clew('show', 'job-2')).code).not.toBe(0)
    expect((await clew('--help')).stdout).not.toContain('undefined')
  })

  it('W4 clew queue set is recorded, and shown', async () => {
    const set = await clew('queue', 'set', 'mail', '--concurrency', '2', '--rate', '{"count":5,"perMs":1000}')
    expect([set.code, set.stderr]).toEqual([0, ''])
    expect(await data('queue', 'list', 'mail')).toMatchObject({
      queues: [{ queue: 'mail', concurrency: 2, rate: { count: 5, perMs: 1000 }, waiting: 0, running: 0 }],
    })
  })

  it('W1 W2 over HTTP: POST /v1/runs, and a long wait for the result, in a server that is a worker as well', async () => {
    const server = spawned([BIN, 'serve', '--worker', './job.ts', '--port', '0', '--no-page', '--json'])
    const closed = once(server, 'close')
    try {
      let text = ''
      server.stdout?.on('data', (chunk: Buffer) => (text += String(chunk)))
      const url = await vi.waitFor(
        () => {
          const found = /"url": ?"([^"]+)"/.exec(text)?.[1]
          expect(found).toBeDefined()
          return found as string
        },
        { timeout: 60_000 },
      )
      const post = async (body: object): Promise<Response> =>
        fetch(`${url}/v1/runs`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      const answer = await post({ agent: 'slow', runId: 'http-1', key: 'acme' })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject({ run: { runId: 'http-1' } })
      expect((await post({ agent: 'slow', runId: 'http-1', input: 2 })).status).toBe(409)
      expect((await post({ agent: 'slow', runID: 'x' })).status).toBe(400)
      const result = await fetch(`${url}/v1/runs/http-1/result?waitMs=60000`)
      expect(await result.json()).toMatchObject({ run: { status: 'completed' }, output: 'all read' })
      expect((await fetch(`${url}/v1/runs/none/result`)).status).toBe(404)
    } finally {
      server.kill('SIGTERM')
      await closed
    }
    await vi.waitFor(async () => expect(await statusOf('http-1')).toBe('completed'), { timeout: 60_000 })
  })
})
