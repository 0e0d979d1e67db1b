import { readFileSync } from 'node:fs'
import { type ClewEvent, openLedger } from 'clew'
import { ClewSaver } from 'clew/langgraph'
import { expect, it } from 'vitest'
import { collect, talk, thread } from './graphs.ts'

const HISTORIES = ['schema-0', 'schema-1', 'schema-1.1']

it.each(HISTORIES)(
  'A4 %s: checkpoints that an earlier version recorded are found by id, and gone on from',
  async (folder) => {
    const ledger = await openLedger('memory:')
    const file = new URL(`../histories/${folder}/langgraph-saver.ndjson`, import.meta.url)
    await ledger.import([readFileSync(file, 'utf8')])
    const listed = await collect(new ClewSaver(ledger).list(thread('calm')))
    expect(listed.length).toBeGreaterThan(4)
    for (const { checkpoint } of listed) {
      const config = thread('calm', { checkpoint_id: checkpoint.id })
      expect((await new ClewSaver(ledger).getTuple(config))?.checkpoint).toEqual(checkpoint)
    }
    const middle = listed.find(({ metadata }) => metadata?.step === 1)
    const saver = new ClewSaver(ledger)
    await talk(saver).updateState(middle?.config ?? {}, { mood: 'glad' })
    expect((await talk(saver).getState(thread('calm'))).values).toMatchObject({ mood: 'glad' })
    await saver.getTuple(middle?.config ?? {})
    await saver.putWrites(middle?.config ?? {}, [['mood', 'sad']], 'task')
    // What a step names as its cause is in the record.
    const steps: ClewEvent[] = []
    for (const { runId } of (await ledger.listRuns({ threadId: 'calm' })).runs)
      steps.push(...(await collect(ledger.read(runId, { types: ['execution.step_completed'] }))))
    const last = steps.find(({ payload }) => payload['taskId'] === 'task')
    const cause = await ledger.getEvent(last?.causationId ?? '')
    expect(cause?.payload).toMatchObject({ checkpointId: middle?.checkpoint.id })
    await new ClewSaver(ledger).deleteThread('calm')
    const gone = talk(new ClewSaver(ledger)).updateState(middle?.config ?? {}, { mood: 'late' })
    await expect(gone).rejects.toMatchObject({ code: 'ended' })
    await ledger.close()
  },
)
