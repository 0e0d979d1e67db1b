import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../../examples/model/scripted-model.ts'
import { clerk } from './agents.ts'
import { importDeskChats } from './desk-chats.ts'
import { type House, openHouse } from './house.ts'

let house: House
let model: ScriptedModel
beforeAll(async () => {
  model = await startScriptedModel({
    apiKey: 'for-tests',
    rules: [
      (messages) =>
        messages.at(-1)?.role === 'tool'
          ? { say: `You are booked: ${messages.at(-1)?.content}` }
          : {
              say: 'I book a seat.',
              call: [
                {
                  tool: 'book_seat',
                  with: { pier: Number(/pier (\d)/.exec(messages[0]?.content ?? '')?.[1]) },
                },
              ],
            },
    ],
  })
  house = await openHouse(async (ledger, store, folder) => {
    await importDeskChats(store, folder, 1)
    for (const width of SIZES) {
      const input = {
        question: 'A seat to Amrum, please.',
        policy: 'You book ferries. Boats to Amrum leave from pier 9.',
        modelUrl: model.url,
      }
      const { status } = await clerk.start(ledger, input, { runId: `booking-${width}` })
      expect(status).toBe('failed')
    }
  })
})
afterAll(async () => {
  await house.close()
  await model.close()
})

const SIZES = [390, 1440] as const

describe('R7 history that can be edited', () => {
  for (const width of SIZES)
    it(`R7 finds why a run failed, edits the prompt that misled it, and shows the new future beside the old one, ${width} px wide`, async () => {
      const page = await house.open('/runs?q=status:failed', { viewport: { width, height: 860 } })
      await page.locator(`a[href*="booking-${width}"]`).first().click()
      // Why: the header says what failed and where; what the model was told stands above it.
      await page.getByText('there is no pier 9').first().waitFor()
      await page.getByRole('button', { name: 'at book_seat' }).click()
      const side = page.getByRole('complementary', { name: 'Selection' })
      await side.getByText('there is no pier 9').first().waitFor()
      await side.getByRole('button', { name: /^asked for by model/ }).click()
      const system = side.getByRole('region', { name: 'system, turn 1' })
      await system.getByText('leave from pier 9').waitFor()
      // Type over it; what will happen is said before.
      await system.getByRole('button', { name: 'Edit turn 1, system' }).click()
      await side.getByText('0 steps kept, $0.').waitFor()
      await side.getByText(/Then live: model/).waitFor()
      await side.getByText(/Reaches outside: book_seat/).waitFor()
      const prompt = side.getByRole('textbox', { name: 'Turn 1, system' })
      await prompt.fill('You book ferries. Boats to Amrum leave from pier 4.')
      await prompt.press('Control+Enter')
      // The old future and the new one, with the first difference in view.
      await page.waitForURL(/\/compare\?a=booking/)
      const allowed = page.getByRole('button', { name: 'Do it', exact: true })
      await allowed.waitFor()
      await page.getByText('book_seat', { exact: true }).waitFor()
      const { violations } = await new AxeBuilder({ page }).analyze()
      expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([])
      await allowed.click()
      const rows = page.getByRole('list', { name: 'Lines of both runs' })
      await page.getByText(/^You are booked/).waitFor()
      await page.getByText('there is no pier 9', { exact: true }).waitFor()
      await rows
        .getByRole('button', { name: /show the difference/ })
        .first()
        .click()
      await rows.locator('del').filter({ hasText: /9/ }).first().waitFor()
      await rows.locator('ins').filter({ hasText: /4/ }).first().waitFor()

      const { runs } = await house.ledger.listRuns({ agent: 'clerk', status: 'completed' })
      const fork = runs.find(({ forkedFrom }) => forkedFrom?.runId === `booking-${width}`)
      expect((await house.ledger.getRun(fork?.runId ?? '', { values: true }))?.output).toContain('"pier":4')
      expect((await house.ledger.getRun(`booking-${width}`))?.status).toBe('failed')
      // The branch says what was edited.
      await page.goto(`${house.url}/runs/${fork?.runId}`)
      await page.getByText('with another input of model#0').waitFor()
      await page.getByRole('link', { name: 'beside it' }).waitFor()
    })

  it('R7 says why no future follows where the code is not here', async () => {
    const page = await house.open('/runs/desk-1?tab=timeline')
    await page
      .getByRole('treeitem', { name: /find_boat/ })
      .first()
      .click()
    const side = page.getByRole('complementary', { name: 'Selection' })
    await side.getByRole('button', { name: 'Edit output' }).click()
    await side.getByRole('note').filter({ hasText: 'The code of harbour is not here' }).waitFor()
    await side.getByRole('textbox', { name: 'New output' }).fill('"no boats"')
    expect(await side.getByRole('button', { name: /Run the branch/ }).isDisabled()).toBe(true)
  })
})
