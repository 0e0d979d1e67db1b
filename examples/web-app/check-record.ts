import assert from 'node:assert/strict'
import type { Ledger } from 'clew'

/** Proves from the record that every order ended once, each note was received once, and no effect ran after its end. */
export async function checkRecord(
  ledger: Ledger,
  runIds: readonly string[],
): Promise<{ readonly effects: number; readonly signals: number }> {
  let effects = 0
  let signals = 0
  for (const runId of runIds) {
    const types: string[] = []
    const sent: unknown[] = []
    const received: unknown[] = []
    const completed = new Set<unknown>()
    for await (const { eventType, eventId, payload } of ledger.read(runId)) {
      types.push(eventType)
      const { stepId, signal } = payload as { stepId?: string; signal?: { eventId: string } }
      if (eventType === 'system.signal_received') sent.push(eventId)
      if (!eventType.startsWith('execution.step_')) continue
      assert.ok(!completed.has(stepId), `${runId}: nothing more of ${stepId} after its end`)
      if (eventType !== 'execution.step_completed') continue
      completed.add(stepId)
      if (signal) received.push(signal.eventId)
      else if (/^(reserve|engrave|ship)#/.test(stepId ?? '')) effects++
    }
    assert.equal(types[0], 'system.workflow_submitted')
    for (const once of ['system.workflow_submitted', 'system.workflow_started', 'system.workflow_completed'])
      assert.equal(types.filter((type) => type === once).length, 1, `${runId}: ${once} is there once`)
    assert.ok(!types.includes('system.workflow_failed') && !types.includes('system.workflow_stopped'))
    assert.deepEqual(
      received,
      sent,
      `${runId}: each note was received once, in the order in which it was sent`,
    )
    signals += sent.length
  }
  assert.equal((await ledger.verify()).ok, true)
  return { effects, signals }
}
