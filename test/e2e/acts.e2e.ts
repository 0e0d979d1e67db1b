import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent } from 'clew'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { courier } from './agents.ts'
import { type House, openHouse } from './house.ts'

let house: House
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-acts-'))
  house = await openHouse()
})
afterAll(async () => {
  await house.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What was recorded under the name of an agent that bakes otherwise now. */
const bakedOnce = agent('baker', async (run) => {
  await run.step('mix', { flour: 500 }, () => 'dough')
  await run.step('rest', { minutes: 60 }, () => 'risen dough')
  return run.step('bake', { minutes: 30 }, () => 'bread')
})

describe('U1 acts, from the question to the end', () => {
  it('R12 T4 shows what a run says while it says it, and stops it where somebody else runs it', async () => {
    const ended = courier.start(house.ledger, { gate: join(folder, 'never') }, { runId: 'courier-1' })
    const page = await house.open('/runs/courier-1')
    const row = page.getByRole('article').filter({ hasText: 'The parcel is packed.' })
    await row.waitFor()
    const first = page.getByRole('article').first()
    const top = (await first.boundingBox())?.y
    await row.getByText('at the gate (6)').waitFor()
    expect((await first.boundingBox())?.y).toBe(top)

    await page.keyboard.press('s')
    const sheet = page.getByRole('dialog', { name: 'Stop courier?' })
    await sheet.getByText('clew stop courier-1').waitFor()
    await sheet.getByRole('textbox', { name: 'Why, for the record' }).fill('enough waited')
    await sheet.getByText("clew stop courier-1 --reason 'enough waited'").waitFor()
    await sheet.getByRole('button', { name: 'Stop the run' }).click()
    await sheet.waitFor({ state: 'detached' })
    await page.getByRole('article').filter({ hasText: 'stopped' }).last().waitFor()
    expect((await ended).status).toBe('stopped')
    await row.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Stop…' }).waitFor({ state: 'detached' })
  })

  it('R5 resumes a run whose process is gone', async () => {
    const gate = join(folder, 'gate')
    // A fork waits for its agent: the server takes it up, and dies with it.
    const open = join(folder, 'open')
    writeFileSync(open, '')
    await courier.start(house.ledger, { gate: open }, { runId: 'courier-2' })
    const page = await house.open('/runs/courier-2?act=fork')
    const fork = page.getByRole('dialog', { name: 'Fork this run' })
    await fork.getByRole('combobox', { name: 'Start before' }).selectOption('thinking#0')
    await fork.getByRole('radio', { name: 'The input of the run' }).check()
    await fork.getByRole('textbox').fill(JSON.stringify({ gate }))
    await fork.getByText(`clew fork courier-2 --at 'thinking#0' --input '{"gate":"${gate}"}'`).waitFor()
    await fork.getByRole('button', { name: 'Fork', exact: true }).click()
    await page.getByText(/^fork of/).waitFor()
    await page.getByText('The parcel is packed.').waitFor()

    await house.killServer()
    await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
    writeFileSync(gate, '')
    await house.startServer()
    await page.getByRole('button', { name: 'Resume…' }).click()
    const sheet = page.getByRole('dialog', { name: 'Resume courier?' })
    await sheet.getByText('1 completed step is restored from the record').waitFor()
    await sheet.getByText(/clew resume /).waitFor()
    await sheet.getByRole('button', { name: 'Resume the run' }).click()
    await sheet.waitFor({ state: 'detached' })
    await page.getByRole('article').filter({ hasText: 'rings delivered' }).last().waitFor()
    await page.getByRole('button', { name: 'Resume…' }).waitFor({ state: 'detached' })
    await page.getByText(/another took over .* later: 1 step kept, 1 repeated, 0 in doubt/).waitFor()
  })

  it('U1 keeps an input that was typed before the recorded one arrived', async () => {
    const page = await house.open('/health')
    const held = Promise.withResolvers<void>()
    await page.route(/\/runs\/field-notes-7\/events\?afterSeq=0&limit=1$/, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.goto(`${house.url}/runs/field-notes-7?act=fork`)
    const sheet = page.getByRole('dialog', { name: 'Fork this run' })
    await sheet.getByRole('radio', { name: 'The input of the run' }).check()
    await sheet.getByRole('textbox').fill('{"topic":"typed"}')
    const arrived = page.waitForResponse(/\/runs\/field-notes-7\/events\?afterSeq=0&limit=1$/)
    held.resolve()
    await (await arrived).finished()
    await sheet.getByText(`--input '{"topic":"typed"}'`).waitFor()
    expect(await sheet.getByRole('textbox').inputValue()).toBe('{"topic":"typed"}')
  })

  it('R7 forks with another state, written where it stood', async () => {
    const page = await house.open('/runs/triage-31?tab=state&step=judge%40s4&act=fork')
    const sheet = page.getByRole('dialog', { name: 'Fork this run' })
    await sheet.getByRole('radio', { name: 'The state of the graph' }).check()
    const editor = sheet.getByRole('textbox')
    await expect.poll(() => editor.inputValue()).toContain('"note": "next: T-2"')
    const fork = sheet.getByRole('button', { name: 'Fork', exact: true })
    expect(await fork.isDisabled()).toBe(true)
    const state = JSON.parse(await editor.inputValue()) as { tickets: { id: string }[] }
    await editor.fill('{ "tickets": [')
    await sheet.getByText(/JSON/).last().waitFor()
    expect(await fork.isDisabled()).toBe(true)
    await editor.fill(JSON.stringify({ ...state, tickets: state.tickets.slice(0, 2) }))
    // Only what was changed is written.
    await sheet.getByText(/clew fork triage-31 --at judge@s4 --state '\{"tickets":\[/).waitFor()
    await fork.click()
    await page.getByText(/^fork of/).waitFor()
    await page.getByRole('tab', { name: 'State' }).click()
    await page.getByText('"2 handled, 1 urgent"').waitFor()
    await page.getByRole('tab', { name: 'Lineage' }).click()
    await page
      .getByRole('link', { name: /triage-31/ })
      .first()
      .waitFor()
  })

  it('D2 replays changed code, and lays what was expected beside what came', async () => {
    await bakedOnce.start(house.ledger, {}, { runId: 'baker-1' })
    const page = await house.open('/runs/baker-1')
    await page.getByRole('tab', { name: 'Transcript', selected: true }).waitFor()
    await page.keyboard.press('r')
    const sheet = page.getByRole('dialog', { name: 'Replay this run' })
    await sheet.getByText('clew replay baker-1 --mode re-execute').waitFor()
    await sheet.getByRole('button', { name: 'Replay', exact: true }).click()
    await sheet.getByText(/^Diverged at rest/).waitFor()
    const parting = sheet.getByRole('listitem').filter({ hasText: 'expected' })
    await parting.getByText('received').waitFor()
    const rows = await sheet.getByRole('listitem').allInnerTexts()
    expect(rows[0]).toMatch(/recorded\s+replayed/)
    expect(rows[1]).toMatch(/mix#0\s+mix#0/)
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
  })
})
