import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemRunId, type Ledger, sweepOrphans } from '@clew/ledger'
import { createStream, postMessage } from '@clew/trace'
import { z } from 'zod'
import { agentSet, toRunnable } from '../../control/load-agents.ts'
import { createControl } from '../../control/create-control.ts'
import type { RunControl } from '../../control/run-control.ts'
import { answering } from '../../operations/operation.ts'
import { PROGRAM_ARGS, programFile } from '../../own-files.ts'
import { type demoChat, servedDemo } from '../served-demo.ts'
import type { AgentProcessSettings } from './agent-process.ts'
import { modelFrom } from './call-model.ts'
import { createDemoAgents } from './demo-agents.ts'
import { PERSONAS } from './personas.ts'
import { startScriptedModel } from './scripted-model.ts'

const STREAM = 'field-notes'
const FIRST_QUESTION = 'Which owls hunt by day?'
/** Long enough for a person to see that no process works. */
const DEAD_MS = 2500

const AGENT_PROCESS = fileURLToPath(programFile('demo/chat/agent-process'))

interface DemoOptions {
  readonly ledger: Ledger
  readonly store: string
  readonly board: string
  readonly isFast: boolean
}

/** The living part of the demo: a model, the process of the agents, a stream to talk in. */
export async function startDemo({ ledger, store, board, isFast }: DemoOptions) {
  const model = await startScriptedModel(
    isFast ? { wordMs: 0, refuseEvery: 6 } : { wordMs: 45, refuseEvery: 6 },
  )
  const settings: AgentProcessSettings = { store, scriptedModel: model.url, board, isFast }
  let deaths = 0
  let isClosing = false
  let child = startAgents()

  function startAgents(): ChildProcess {
    const started = spawn(process.execPath, [...PROGRAM_ARGS, AGENT_PROCESS, JSON.stringify(settings)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    // A process that ended with an error has printed it, and would end again.
    started.once('exit', (_, signal) => {
      if (!isClosing && signal !== null) void revive()
    })
    return started
  }
  async function revive(): Promise<void> {
    deaths++
    await sleep(isFast ? 50 : DEAD_MS)
    if (!isClosing) child = startAgents()
  }

  if (!(await ledger.getRun(systemRunId('stream', STREAM)))) {
    await createStream(ledger, { streamId: STREAM, title: STREAM })
    await postMessage(ledger, {
      streamId: STREAM,
      messageId: 'first-question',
      author: { type: 'user', id: 'you', name: 'You' },
      content: FIRST_QUESTION,
    })
  }

  const state = (): z.output<typeof demoChat> => ({
    model: modelFrom(process.env, model.url).about,
    personas: PERSONAS.map(({ id, name, about, example }) => ({ id, name, about, example })),
    pid: child.exitCode === null && child.signalCode === null ? (child.pid ?? null) : null,
    deaths,
  })
  const kill = answering({
    name: 'demo-kill',
    summary: 'Kill the process of the demo agents, as a crash would; another one goes on',
    scope: 'control',
    surfaces: ['rest'],
    input: z.object({}),
    output: z.object({ killed: z.boolean() }),
    example: { command: 'clew demo', input: {} },
    cli: { group: 'Begin' },
    rest: { method: 'post', path: '/v1/demo/kill' },
    async run() {
      const dead = child
      if (!dead.kill('SIGKILL')) return { killed: false }
      if (dead.signalCode === null) await once(dead, 'exit')
      // A server notices a dead process after a while; here people are watching, so it is swept immediately.
      await sweepOrphans(ledger)
      return { killed: true }
    },
  })

  const runnables = Object.values(createDemoAgents(ledger, settings)).flatMap(
    (each) => toRunnable(each) ?? [],
  )
  const agents = agentSet(runnables, 'the demo')

  return {
    operations: [...servedDemo(state), kill],
    /**
     * A fork is resumed by the process that can be killed; operations that need the code of an agent immediately have
     * it here.
     */
    controlOf(view: Ledger): RunControl {
      const able = createControl(view, { agents })
      const without = createControl(view)
      return {
        ...able,
        fork: (runId, request = {}) =>
          (request.state === undefined && request.retry !== true ? without : able).fork(runId, request),
      }
    },
    async close(): Promise<void> {
      isClosing = true
      if (child.exitCode === null && child.signalCode === null) {
        child.disconnect()
        await Promise.race([once(child, 'exit'), sleep(3000, undefined, { ref: false })])
        child.kill('SIGKILL')
      }
      await model.close()
    },
  }
}
