import { createStream, postMessage, editMessage } from '@clew/trace'
import { ClewSaver, ClewStore } from 'clew/langgraph'
import { describe, expect, it } from 'vitest'
import { createMemoryWorld } from '../../packages/runtime/test/memory-ledger.ts'
import { collect, talk, thread } from '../langgraph/graphs.ts'
import { CASE, OTHER_CASE, RULE_CHANGES } from './rule-changes.ts'

describe.each(RULE_CHANGES)(
  'a redaction rule is %s between two openings of a ledger',
  (_, { before, after }) => {
    it('A4 a thread of LangGraph is found, goes on, is listed and is deleted', async () => {
      const { open } = createMemoryWorld()
      await talk(new ClewSaver(open('default', before))).invoke({ lines: ['a'] }, thread(CASE))
      const saver = new ClewSaver(open('default', after))
      const graph = talk(saver)
      expect((await graph.getState(thread(CASE))).values).toMatchObject({
        lines: ['a', 'hear', 'think calm', 'speak'],
      })
      await graph.invoke({ lines: ['b'] }, thread(CASE))
      const again = new ClewSaver(open('default', after))
      expect((await talk(again).getState(thread(CASE))).values.lines.length).toBe(8)
      expect((await collect(again.list(thread(CASE)))).length).toBe(10)
      await again.deleteThread(CASE)
      expect(await new ClewSaver(open('default', after)).getTuple(thread(CASE))).toBeUndefined()
    })

    it('L4 a put of a LangGraph store and a message that are sent again are one', async () => {
      const { open } = createMemoryWorld()
      const [one, two] = [open('default', before), open('default', after)]
      await new ClewStore(one, { secrets: 'redact' }).put(['n'], 'k', { of: CASE })
      await createStream(one, { streamId: 's' })
      const message = {
        streamId: 's',
        messageId: `m ${CASE}`,
        author: { type: 'user', id: 'u', name: 'U' },
        content: { text: CASE },
      } as const
      await postMessage(one, message)
      await postMessage(two, message)
      await editMessage(two, {
        streamId: 's',
        messageId: message.messageId,
        content: { text: 'new' },
      })
      const systemRun = await two.listRuns({ systemRun: 'stream' })
      expect(systemRun.runs[0]?.events).toBe(3)
    })

    it('M1 M2 what is remembered is found, written anew, listed once and forgotten by its name', async () => {
      const { open } = createMemoryWorld()
      const [one, two] = [open('default', before), open('default', after)]
      const name = { layer: 'session', scope: CASE, namespace: `files/${CASE}/notes`, key: CASE } as const
      const other = { ...name, key: OTHER_CASE }
      await one.memory.put({ ...name, value: 'first', tags: [CASE, 'plain'] })
      await one.memory.put({ ...other, value: 'other' })
      const found = await two.memory.get(name)
      expect([found?.value, (await two.memory.get(other))?.value]).toEqual(['first', 'other'])
      const filters = [
        { namespaces: ['files'] },
        { namespaces: [`files/${CASE}`] },
        { scopes: [{ layer: 'session', scope: CASE }] as const },
      ]
      for (const filter of filters) expect((await two.memory.list(filter)).items.length).toBe(2)
      expect((await two.memory.list({ tags: [CASE] })).items.map(({ value }) => value)).toEqual(['first'])
      expect((await two.memory.search('first', { tags: [CASE] })).length).toBe(1)
      await expect(two.memory.put({ ...name, value: 'second' }, { ifVersion: 0 })).rejects.toMatchObject({
        code: 'conflict',
      })
      await two.memory.put({ ...name, value: 'second' }, { ifVersion: found?.version as number })
      expect((await two.memory.get(name))?.value).toBe('second')
      const values = (await two.memory.list({})).items.map(({ value }) => String(value))
      expect(values.toSorted()).toEqual(['other', 'second'])
      await two.memory.put({ ...name, value: 'third' })
      expect((await two.memory.get(name))?.value).toBe('third')
      await two.memory.forget(name)
      expect(await two.memory.get(name)).toBeNull()
      expect((await two.memory.list({})).items.map(({ value }) => value)).toEqual(['other'])
    })

    it('P5 a subject is erased: its runs, what it said elsewhere, and what is remembered of it', async () => {
      const { open } = createMemoryWorld()
      const [one, two] = [open('default', before), open('default', after)]
      const started = (correlationId: string, subjects: string[]) => ({
        eventType: 'system.workflow_started',
        correlationId,
        payload: { agent: 'a', subjects },
      })
      const completed = (correlationId: string) => ({ eventType: 'system.workflow_completed', correlationId })
      await one.append([started('mine', [CASE]), completed('mine')] as never)
      await one.append([started('other', [OTHER_CASE]), completed('other')] as never)
      await one.record({
        eventType: 'execution.message',
        correlationId: 'third',
        payload: { subjects: [CASE] },
      })
      await one.memory.put({ layer: 'long', scope: `user:${CASE}`, namespace: 'n', key: 'k', value: 1 })
      await one.memory.put({
        layer: 'long',
        scope: 'workspace',
        namespace: 'n',
        key: 'k',
        value: 2,
        subjects: [CASE],
      })
      await two.erase({ subject: CASE })
      for (const [runId, isErased] of [
        ['mine', true],
        ['other', false],
        ['third', true],
      ] as const)
        for (const event of await Array.fromAsync(two.read(runId)))
          expect([runId, event.ledger.erased === true]).toEqual([runId, isErased])
      expect((await two.memory.list({})).items).toEqual([])
    })

    it('P4 a legal hold on a subject or a thread keeps what it covers', async () => {
      for (const [first, second] of [
        [before, after],
        [after, before],
      ] as const) {
        const { open } = createMemoryWorld()
        const one = open('default', first)
        for (const [runId, more] of [
          ['of-subject', { subjects: [CASE] }],
          ['of-thread', { threadId: CASE, subjects: [OTHER_CASE] }],
        ] as const)
          await one.append([
            { eventType: 'system.workflow_started', correlationId: runId, payload: { agent: 'a', ...more } },
            { eventType: 'system.workflow_completed', correlationId: runId },
          ] as never)
        const two = open('default', second)
        await two.hold({ subject: CASE })
        await two.hold({ threadId: CASE })
        const third = open('default', first)
        for (const runId of ['of-subject', 'of-thread'])
          await expect(third.erase({ runId })).rejects.toMatchObject({ code: 'held' })
        await expect(third.erase({ subject: CASE })).rejects.toMatchObject({ code: 'held' })
      }
    })
  },
)
