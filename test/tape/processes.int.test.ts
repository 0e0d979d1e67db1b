import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { createLatch } from '../runtime/worlds.ts'
import type { Library, Said, Talk } from './model-agents.ts'
import { startModelServer } from './model-server.ts'

const CHILD = new URL('talk-child.ts', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'clew-tape-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const begin = (library: Library, runId: string, talk: Talk): ChildProcess =>
  spawn(process.execPath, [CHILD, join(folder, `${library}.db`), runId, library, JSON.stringify(talk)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })

interface Came {
  readonly status: string
  readonly output?: Said
  readonly error: { readonly message: string } | null
}

async function live(...given: Parameters<typeof begin>): Promise<Came> {
  const child = begin(...given)
  const [out, err] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
  ])
  if (out === '') throw new Error(err)
  return JSON.parse(out) as Came
}

describe.each<Library>(['openai', 'anthropic', 'ai'])('%s, each life a process of its own', (library) => {
  it('R5 D4 killed in mid-stream it goes on, and then from the record alone', async () => {
    const isSpeaking = createLatch()
    const stalls = new Set([1])
    // The second answer stops after two of its tokens, for ever.
    await using server = await startModelServer([], (request, piece) => {
      if (!stalls.has(request) || piece < 4) return undefined
      isSpeaking.open()
      return new Promise(() => {})
    })
    const talk = { url: server.url, isStreamed: true }
    const killed = begin(library, 'talk', talk)
    await isSpeaking.opened
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    expect(server.seen.length).toBe(2)
    // Only the body that had broken off is asked for again.
    expect(await live(library, 'talk', talk)).toMatchObject({ status: 'paused', error: null })
    expect(server.seen.length).toBe(3)
    await server.close()
    const came = await live(library, 'talk', talk)
    expect(came).toMatchObject({ status: 'completed', error: null })
    expect(came.output?.pieces.join('')).toBe('The owl sees 7 mice at night.')
    expect(came.output?.tools).toEqual(['7 mice in the barn'])
  })
})
