import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createControlledRuns } from '../../test/controlled-runs.ts'
import { skillText } from '../mcp/skill-text.ts'

const runs = createControlledRuns()
const { clew, data, file, started, statusOf } = runs

interface Debugged {
  readonly forkAt: { readonly step: string } | null
  readonly fork: { readonly run: { readonly runId: string; readonly status: string }; output: unknown } | null
}

beforeAll(async () => {
  await started('broken', 'broken-1')
  // Answered with its agent at hand: it goes on, and fails for want of a file.
  await clew('resume', 'broken-1', '--agent', './agents.ts', '--answer', 'go')
  expect(await statusOf('broken-1')).toBe('failed')
})
afterAll(() => runs.remove())

describe('clew debug', () => {
  it('walks from the failure to its likely cause and names the fork that comes next', async () => {
    const { code, stdout, stderr } = await clew('debug', 'broken-1')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^broken-1 .*failed/)
    expect(stdout).toMatch(/failure +use#\d+ .*no such thing/)
    expect(stdout).toMatch(/clew fork broken-1 --at 'use#\d+' --agent MODULE/)
    expect((await data<Debugged>('debug', 'broken-1')).fork).toBeNull()
  })

  it('forks before the cause with the code as it is now', async () => {
    writeFileSync(file('thing'), '')
    const { forkAt, fork } = await data<Debugged>('debug', 'broken-1', '--fork', '--agent', './agents.ts')
    expect(forkAt).toMatchObject({ step: expect.stringContaining('use') as string })
    expect(fork).toMatchObject({ run: { status: 'completed' }, output: 'used' })
    expect(await statusOf('broken-1')).toBe('failed')
  })

  it('says which runs are near an id that is not there', async () => {
    const { code, stderr } = await clew('debug', 'broken-2')
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('broken-1')])
    expect(code).not.toBe(0)
  })
})

describe('clew skill', () => {
  it('prints the instruction file that clew init writes', async () => {
    const { code, stdout } = await clew('skill')
    expect([code, stdout.trimEnd()]).toEqual([0, skillText().trimEnd()])
    expect((await clew('init')).code).toBe(0)
    expect(readFileSync(file('.claude/skills/clew/SKILL.md'), 'utf8').trimEnd()).toBe(stdout.trimEnd())
  })
})
