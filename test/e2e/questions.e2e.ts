import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bursar } from './agents.ts'
import { type House, openHouse } from './house.ts'

let house: House
beforeAll(async () => {
  house = await openHouse(async (ledger) => {
    for (const runId of ['refund-390', 'refund-1440'])
      await bursar.start(ledger, { booking: 'B-17' }, { runId })
  })
})
afterAll(() => house.close())

describe('R6 a question', () => {
  for (const width of [390, 1440])
    it(`R6 shows what is to be approved and until when, answers at once, and asks by a form, ${width} px wide`, async () => {
      const page = await house.open(`/runs/refund-${width}?tab=timeline`, {
        viewport: { width, height: 800 },
      })
      await page.getByRole('button', { name: 'May the fare be paid back?' }).click()
      await page.getByRole('tab', { name: 'Transcript', selected: true }).waitFor()
      const card = page.getByRole('article').filter({ hasText: 'May the fare be paid back?' })
      await card.getByText('destructive').waitFor()
      await card.getByText('the boat did not sail').waitFor()
      await card.getByText(/^Without an answer No counts in \d+ (min|h) /).waitFor()
      expect(await card.getByRole('button', { name: 'No', exact: true }).isVisible()).toBe(true)
      await card.getByRole('button', { name: 'Yes', exact: true }).click()

      const letter = page.getByRole('article').filter({ hasText: 'How should the letter sound?' })
      const answer = letter.getByRole('button', { name: 'Answer' })
      await answer.waitFor()
      expect(await answer.isDisabled()).toBe(true)
      await letter.getByRole('combobox', { name: 'tone' }).selectOption('warm')
      await letter.getByRole('spinbutton', { name: 'lines (optional)' }).fill('12')
      await answer.click()
      await page.getByRole('article').filter({ hasText: 'completed' }).last().waitFor()
      expect((await house.ledger.getRun(`refund-${width}`, { values: true }))?.output).toEqual({
        paid: 28.5,
        tone: 'warm',
        lines: 12,
      })
    })
})
