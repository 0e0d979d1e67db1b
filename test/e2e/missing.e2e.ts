import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'

let house: House
beforeAll(async () => {
  house = await openHouse(async (ledger) => {
    for (const runId of ['erased-1', 'pruned-1', 'strange-1']) {
      const record = (eventType: string, payload: object) =>
        ledger.append([{ eventType, correlationId: runId, payload: { ...payload } }])
      await record('system.workflow_started', { agent: 'archive', input: { question: 'Where is box 14?' } })
      await record('execution.message', { role: 'user', content: `A letter of ${runId}` })
      const stepId = 'look'
      await record('execution.step_started', { stepId, name: 'look', kind: 'tool', input: { at: 'shelf 3' } })
      await record('execution.step_completed', { stepId, output: { found: 'on shelf 3' } })
      if (runId === 'strange-1') {
        await record('execution.purple_haze', { colour: 'purple', since: 1967 })
        await record('execution.tool_call', {
          toolCallId: 'c',
          name: 'post',
          arguments: { authorization: 'Bearer not-a-real-token-5f2c9e71' },
        })
      }
      await record('system.workflow_completed', { output: 'found' })
    }
    const correlationId = 'states-1'
    const superstep = (n: number) => ({
      eventType: 'execution.step_completed' as const,
      correlationId,
      payload: {
        stepId: `say@s${n}`,
        output: { word: `word ${n}` },
        checkpoint: { superstep: n, next: [], operations: [], baseSeq: n + 2, state: { n }, versions: {} },
      },
    })
    const started = {
      eventType: 'system.workflow_started' as const,
      correlationId,
      payload: { threadId: 't' },
    }
    await ledger.append([started, superstep(0), superstep(1)])
    await ledger.append([{ eventType: 'system.workflow_completed', correlationId, payload: {} }])
    await ledger.pruneStates(correlationId, { keep: 'latest' })
    await ledger.erase({ runId: 'erased-1' }, { by: 'dpo', reason: 'she asked' })
  })
})
afterAll(() => house.close())

/** As the browser of the tests writes it. */
const TODAY = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

describe('U1 what is no longer there', () => {
  it('P5 an erased payload says since when and by whom, in every tab', async () => {
    const gone = `erased on ${TODAY} by dpo`
    const page = await house.open('/runs/erased-1')
    await page.getByRole('article').getByText(gone).first().waitFor()
    expect(await page.getByText('A letter of').count()).toBe(0)
    await page.goto(`${house.url}/runs/erased-1?tab=events&event=4`)
    await page.getByRole('complementary').getByText(gone).waitFor()
    await page.getByRole('listitem').getByText(gone).first().waitFor()
    expect(await page.getByText('shelf 3').count()).toBe(0)
    expect(await page.getByText('she asked').count()).toBe(0)
  })

  it('P4 a range that retention took says so, with its rule; what is left stays', async () => {
    const match = { agent: 'archive', types: ['execution.message'] }
    await house.ledger.gc({
      policy: { rules: [{ name: 'letters', match, olderThan: '0.001s' }] },
      by: 'keeper',
    })
    const page = await house.open('/runs/pruned-1')
    const gone = `pruned on ${TODAY} by keeper (letters)`
    await page
      .getByRole('note')
      .filter({ hasText: `Events 2 to 2 were ${gone}` })
      .waitFor()
    expect(await page.getByText('A letter of').count()).toBe(0)
    await page.getByRole('article').filter({ hasText: 'completed' }).waitFor()
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByRole('listitem').getByText(gone).waitFor()
  })

  it('R10 a payload that went with its state says pruned, not erased', async () => {
    const page = await house.open('/runs/states-1?tab=events&event=2')
    const gone = `pruned on ${TODAY} (`
    await page.getByRole('complementary').getByText(gone).waitFor()
    await page.getByRole('listitem').getByText(gone).first().waitFor()
    expect(await page.getByText('erased').count()).toBe(0)
  })

  it('U1 what was redacted is a chip with its kind, and a type that nobody knows is shown raw', async () => {
    const page = await house.open('/runs/strange-1?tab=events&event=5')
    const side = page.getByRole('complementary')
    await side.getByRole('heading', { name: /execution\.purple_haze/ }).waitFor()
    await side.getByText('"purple"').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'purple_haze' }).getByText(/1967/).waitFor()
    await page.goto(`${house.url}/runs/strange-1?tab=events&event=6`)
    await side.getByRole('button', { name: /arguments/ }).click()
    await side
      .getByText(/redacted/i)
      .first()
      .waitFor()
    expect(await page.getByText('not-a-real-token').count()).toBe(0)
  })
})
