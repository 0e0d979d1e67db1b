/**
 * Proves R9 and R10: a call that fails and that nobody awaits ends its own run, never the process with the runs of
 * others in it. A rejection of the user's own code ends the process, as Node does.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const CHILD = join(import.meta.dirname, 'unawaited-failure-child.ts')
type Way = 'start' | 'replay' | 'graph' | 'resume' | 'worker' | 'killed' | 'again'

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
  /** How both runs came out, as far as the process came to say it, and the verdict of a replay. */
  readonly said: readonly { readonly status: string; readonly error?: string }[] | null
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clew-unawaited-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function live(shape: string, how: Way): Promise<Ended> {
  const args = [CHILD, join(folder, 'clew.db'), shape, how]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { code, signal, stderr, said: stdout === '' ? null : (JSON.parse(stdout) as Ended['said']) }
}

/** The process ends well, the failing run has failed with its error, the other one has completed. */
const FAILED = { code: 0, said: [{ status: 'failed', error: 'it failed' }, { status: 'completed' }] }
const SHAPES = [
  'an effect',
  'an effect that fails late',
  'a step',
  'a child',
  'an effect in a body',
  'what is derived by then',
  'what is derived twice',
  'what an async function awaits',
  'what wraps the error',
  'a call with bad options',
  'one of Promise.all',
]

describe('R9 R10 a call that fails and that nobody awaits', () => {
  it.each(SHAPES)('ends its own run as failed, not the process: %s', async (shape) => {
    expect(await live(shape, 'start')).toMatchObject(FAILED)
  })

  it.each(SHAPES)('D1 fails an unchanged replay in the same way: %s', async (shape) => {
    const { code, said } = await live(shape, 'replay')
    expect([code, said?.[0]?.status, said?.[2]?.status]).toEqual([0, 'failed', 'identical'])
  })

  it.each(['graph', 'resume', 'worker'] as const)(
    'ends its own run, not the process, under: %s',
    async (how) => {
      expect(await live('an effect', how)).toMatchObject(FAILED)
    },
  )

  it.each(['an effect', 'what is derived by then'])(
    'R5 and again when a run is resumed whose process died as the failure was recorded: %s',
    async (shape) => {
      expect((await live(shape, 'killed')).signal).toBe('SIGKILL')
      expect(await live(shape, 'again')).toMatchObject(FAILED)
    },
  )

  it('leaves a run alone that has ended by then', async () => {
    expect(await live('a chain that rejects after the run has ended', 'start')).toMatchObject({
      code: 0,
      said: [{ status: 'completed' }, { status: 'completed' }],
    })
  })

  it('is nothing of the kind when it is handled', async () => {
    expect(await live('what is handled at once', 'start')).toMatchObject({
      code: 0,
      said: [{ status: 'completed' }, { status: 'completed' }],
    })
  })

  it('that is handled late does not end the process either', async () => {
    const { code, said } = await live('what is handled late', 'start')
    expect([code, said?.[1]?.status]).toEqual([0, 'completed'])
  })
})

describe('a rejection of the own code that nobody handles', () => {
  it('ends the process, as Node does without Clew', async () => {
    const { code, stderr, said } = await live('a promise of the own code', 'start')
    expect([code, said]).toEqual([1, null])
    expect(stderr).toContain('of the own code')
  })
})
