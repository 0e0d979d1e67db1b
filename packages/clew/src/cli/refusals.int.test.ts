import { existsSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createControlledRuns } from '../../test/controlled-runs.ts'
import { openLedger } from '../open-ledger.ts'

const runs = createControlledRuns()
const { clew, file, inMode, started, statusOf, store } = runs

beforeAll(async () => {
  writeFileSync(file('empty.ts'), 'export const answer = 42\n')
  writeFileSync(file('torn.ts'), 'export const answer = \n')
  writeFileSync(file('lost.ts'), "export * from './gone.ts'\n")
  writeFileSync(file('throws.ts'), "throw new Error('not today')\n")
  await Promise.all([
    started('trip', 'trip-12', { to: 'Oslo' }),
    started('trip', 'trip-13', { to: 'Bergen' }),
    started('chat', 'chat-7', { notes: ['hello'] }, { threadId: 'ann' }),
  ])
  await clew('resume', 'trip-12', '--answer', 'yes', '--agent', 'agents.ts')
})
afterAll(() => runs.remove())

describe('exit codes and refusals', () => {
  // Each only asks and is refused, so they need not wait for each other.
  it.concurrent.each([
    ['an unknown run', ['resume', 'trap-12', '--agent', 'agents.ts'], 'Did you mean trip-12'],
    ['a run that is not clear', ['stop', 'trip-'], 'runs begin with trip-'],
    ['a run to fork that is not there', ['fork', 'nobody'], 'There is no run nobody'],
    ['a completed run', ['resume', 'trip-12', '--agent', 'agents.ts'], 'there is nothing to resume'],
    ['an answer to a completed run', ['resume', 'trip-12', '--answer', 'yes'], 'has no open question'],
    ['a module that is not there', ['resume', 'chat-7', '--agent', './gone.ts'], 'gone.ts does not exist'],
    ['a folder', ['resume', 'chat-7', '--agent', '.'], 'is no file'],
    ['a package that is not there', ['resume', 'chat-7', '--agent', 'no-such-package'], 'There is no module'],
    [
      'a module without agents',
      ['resume', 'chat-7', '--agent', 'empty.ts'],
      'exports neither an agent nor a graph',
    ],
    [
      'a module that cannot be read',
      ['resume', 'chat-7', '--agent', 'torn.ts'],
      'cannot be loaded: SyntaxError',
    ],
    ['a module that lacks another one', ['resume', 'chat-7', '--agent', 'lost.ts'], 'gone.ts'],
    [
      'a module that throws',
      ['resume', 'chat-7', '--agent', 'throws.ts'],
      'cannot be loaded: Error: not today',
    ],
    ['lineage of nothing', ['lineage'], 'Name a run or a thread'],
    ['a state for a function', ['fork', 'trip-12', '--state', '{}', '--agent', 'agents.ts'], 'is a function'],
    ['a state without the graph', ['fork', 'chat-7', '--state', '{}'], 'Only its agent chat'],
    ['a retry somewhere else', ['fork', 'trip-12', '--retry', '--at', 'choose'], 'begins where it failed'],
    ['a retry of what went well', ['fork', 'trip-12', '--retry', '--agent', 'agents.ts'], 'has not failed'],
    ['a step that is not there', ['fork', 'trip-12', '--at', 'nowhere'], 'has no step nowhere'],
    ['a seq that is not there', ['fork', 'trip-12', '--at', 'seq:999'], 'has no event 999'],
  ])('2 for %s', async (_, args, sentence) => {
    const { code, stdout, stderr } = await clew(...args)
    expect(stderr).toContain(sentence)
    expect([code, stdout, stderr.trim().split('\n').length]).toEqual([2, '', 1])
  })

  it('2 for an agent that the module has not, or has twice', async () => {
    const ledger = await openLedger(store)
    for (const agent of ['nobody', 'twin'])
      await ledger.record({
        eventType: 'system.workflow_started',
        correlationId: `of-${agent}`,
        payload: { agent },
      })
    await ledger.close()
    const none = await clew('resume', 'of-nobody', '--agent', 'agents.ts')
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringMatching(/has none of that name.*chat, .*trip/),
    ])
    const both = await clew('resume', 'of-twin', '--agent', 'agents.ts')
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('2 agents named twin')])
  })

  it.each(['resume', 'stop', 'fork'])(
    '3 for a store that is missing, and clew %s makes none',
    async (name) => {
      const { code } = await clew(name, 'trip-12', '--store', `sqlite:${file('typo.db')}`)
      expect([code, existsSync(file('typo.db'))]).toEqual([3, false])
    },
  )
})

describe('R11 switches', () => {
  it('CLEW_MODE=read: history is read, nothing is touched', async () => {
    expect((await inMode('read', 'show', 'chat-7')).code).toBe(0)
    expect((await inMode('read', 'state', 'chat-7')).code).toBe(0)
    for (const args of [
      ['resume', 'chat-7', '--answer', 'yes'],
      ['stop', 'chat-7'],
      ['fork', 'chat-7'],
    ]) {
      const { code, stderr } = await inMode('read', ...args)
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining('switched off')])
    }
    expect(await statusOf('chat-7')).toBe('paused')
  })

  it('CLEW_MODE=write: answers are recorded, but no run goes on', async () => {
    const { code, stderr } = await inMode(
      'write',
      'resume',
      'chat-7',
      '--answer',
      'yes',
      '--agent',
      'agents.ts',
    )
    expect([code, stderr]).toEqual([2, expect.stringContaining('resume switched off')])
    expect(await statusOf('chat-7')).toBe('paused')
  })

  it('a mode that there is not is refused', async () => {
    const { code, stderr } = await inMode('wrote', 'runs')
    expect([code, stderr]).toEqual([2, expect.stringContaining('CLEW_MODE names "wrote"')])
  })
})
