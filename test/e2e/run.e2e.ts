import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'

let house: House
beforeAll(async () => {
  house = await openHouse()
})
afterAll(() => house.close())

describe('U1 a run', () => {
  it('U1 tells the conversation first: thoughts above their tool, errors, answers, Markdown', async () => {
    const page = await house.open('/runs/field-notes-7')
    await page.getByText('Which owls hunt by day? Keep it short, with sources.').waitFor()
    const told = await page.getByRole('article').allTextContents()
    const thought = told.findIndex((text) => text.startsWith('thinking'))
    expect(told[thought + 1]).toMatch(/^web_search/)
    await page.getByText('503 Service Unavailable').first().waitFor()
    expect(await page.getByText('not-a-real-token').count()).toBe(0)
    await page.getByRole('cell', { name: 'Northern hawk-owl' }).waitFor()
    // Code is there at once, its colours follow.
    const comment = page.getByText('// three of them', { exact: true })
    await comment.waitFor()
    expect(await comment.getAttribute('style')).toContain('color')
  })

  it('U2 turns tabs by keyboard, each with its address, and the way back works', async () => {
    const page = await house.open('/runs/field-notes-7')
    await page.getByRole('tab', { name: 'Transcript', selected: true }).waitFor()
    await page.keyboard.press(']')
    await page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor()
    await page.getByRole('treeitem', { name: /publish/ }).waitFor()
    expect(page.url()).toContain('tab=timeline')
    await page.keyboard.press(']')
    await page.getByRole('tab', { name: 'Graph', selected: true }).waitFor()
    await page.goBack()
    await page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor()
    await page.keyboard.press('[')
    await page.getByRole('tab', { name: 'Transcript', selected: true }).waitFor()
  })

  it('U2 one choice for all tabs, in the address; zoom too; back and forward bring it back', async () => {
    const page = await house.open('/runs/field-notes-7')
    await page.getByRole('article').filter({ hasText: '503 Service' }).getByRole('button').first().click()
    const side = page.getByRole('complementary', { name: 'Selection' })
    await side.getByRole('heading', { name: /tool_call/ }).waitFor()
    // What is an event of the transcript is a step of the timeline.
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByRole('treeitem', { name: /search/, selected: true }).waitFor()
    const write = page.getByRole('treeitem', { name: /write/ }).first()
    await write.click()
    await page.waitForURL(/step=write/)
    await page.keyboard.press('+')
    await page.waitForURL(/zoom=\d/)
    const zoomed = page.url()
    for (let tab = 0; tab < 4; tab++) await page.keyboard.press(']')
    await page.getByRole('tab', { name: 'Events', selected: true }).waitFor()
    await page.locator('[role="listitem"][data-chosen="true"]').filter({ hasText: 'step_started' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(({ searchParams: at }) => at.get('step') === 'remember' && at.has('at'))
    const events = page.url()
    for (let tab = 0; tab < 4; tab++) await page.goBack()
    await page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor()
    expect(page.url()).toBe(zoomed)
    await page.getByRole('treeitem', { name: /write/, selected: true }).waitFor()
    await page.getByRole('button', { name: 'fit all' }).waitFor()
    for (let tab = 0; tab < 4; tab++) await page.goForward()
    await page.getByRole('tab', { name: 'Events', selected: true }).waitFor()
    expect(page.url()).toBe(events)
    // A link is all that somebody else needs.
    const other = await house.open(new URL(zoomed).pathname + new URL(zoomed).search)
    await other.getByRole('treeitem', { name: /write/, selected: true }).waitFor()
    await other.getByRole('button', { name: 'fit all' }).click()
    await other.waitForURL((url) => !url.searchParams.has('zoom'))
  })

  it.each(['light', 'dark'] as const)(
    'U1 the mini-map has the colours of the theme: %s',
    async (colorScheme) => {
      const page = await house.open('/runs/field-notes-7?tab=timeline', { colorScheme })
      await page.getByRole('treeitem').first().waitFor()
      const seen: Seen = await page.evaluate(COLOURS)
      expect(seen.colours.length).toBeGreaterThan(0)
      expect(seen.colours).not.toContain('0 0 0')
      const reds = seen.colours.map((colour) => Number(colour.split(' ')[0]))
      // To be told from the ground that they stand on.
      for (const red of reds) expect(Math.abs(red - seen.ground)).toBeGreaterThan(25)
      if (colorScheme === 'dark') expect(seen.ground).toBeLessThan(80)
    },
  )

  it('U1 the timeline folds, finds errors, and shows what is chosen', async () => {
    const page = await house.open('/runs/field-notes-7?tab=timeline')
    await page.getByRole('treeitem', { name: /outline/ }).waitFor()
    await page.getByRole('button', { name: 'Fold write' }).click()
    await page.getByRole('treeitem', { name: /outline/ }).waitFor({ state: 'detached' })
    await page.getByRole('treeitem', { name: /write.*2 steps/ }).waitFor()
    await page.keyboard.press('e')
    const side = page.getByRole('complementary', { name: 'Selection' })
    await side.getByText('SearchError').waitFor()
    expect(page.url()).toContain('step=search%231')
    await page.keyboard.press('Escape')
    await side.waitFor({ state: 'detached' })
  })

  it('U1 the graph shows the way that was taken, with its loops', async () => {
    const page = await house.open('/runs/triage-31?tab=graph')
    const judge = page.getByRole('group', { name: 'step judge, 4 times' })
    await judge.getByText('3 loops').waitFor()
    await judge.click()
    await page.getByRole('complementary').getByRole('heading', { name: /judge/ }).waitFor()
  })

  it('U2 on a phone the graph goes down and is as wide as the page, so that its names can be read', async () => {
    const page = await house.open('/runs/triage-31?tab=graph', { viewport: { width: 390, height: 780 } })
    const boxOf = async (name: string) => {
      const box = await page.getByRole('group', { name }).boundingBox()
      if (!box) throw new Error(`${name} is not drawn`)
      return box
    }
    await page.getByRole('group', { name: 'step judge, 4 times' }).getByText('3 loops').waitFor()
    await expect.poll(async () => (await boxOf('step pick, 4 times')).width).toBeGreaterThan(100)
    const [pick, judge] = [await boxOf('step pick, 4 times'), await boxOf('step judge, 4 times')]
    expect(judge.y).toBeGreaterThan(pick.y + pick.height)
    for (const { x, width } of [
      pick,
      judge,
      await boxOf('step escalate'),
      await boxOf('classify, 4 times'),
    ]) {
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(390)
    }
  })

  it('U1 the scrubber takes the whole page to an earlier superstep', async () => {
    const page = await house.open('/runs/triage-31?tab=state')
    await page.getByText('superstep 10 of 10').waitFor()
    await page.keyboard.press('Shift+ArrowLeft')
    await page.getByText('superstep 9 of 10').waitFor()
    expect(page.url()).toContain('at=9')
    const track = page.getByRole('slider', { name: 'Superstep' })
    const box = await track.boundingBox()
    if (!box) throw new Error('The scrubber is not there')
    await page.mouse.move(box.x + box.width * 0.8, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.25, box.y + 10, { steps: 4 })
    await page.mouse.up()
    await page.getByText('superstep 3 of 10').waitFor()
    await page.getByRole('radio', { name: 'Diff to previous' }).click()
    await page.locator('.word-diff ins').filter({ hasText: '2' }).first().waitFor()
    await page.getByRole('button', { name: 'To the end' }).click()
    await page.getByText('superstep 10 of 10').waitFor()
  })

  it('U1 walks causes and effects, and shows events as they were recorded', async () => {
    const page = await house.open('/runs/field-notes-7?tab=causes&event=12')
    await page.getByText('Caused by 11 events').waitFor()
    await page.getByRole('button', { name: /#1 system.workflow_started/ }).click()
    await page.getByText('It has no recorded cause').waitFor()
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByRole('listitem').filter({ hasText: 'tool_error' }).click()
    await page
      .getByRole('complementary')
      .getByText('"SearchError"')
      .or(page.getByText('error:'))
      .first()
      .waitFor()
  })

  it('U1 costs, run log and lineage have their numbers', async () => {
    const page = await house.open('/runs/field-notes-7?tab=cost')
    await page.getByRole('row', { name: /gpt-4o-mini/ }).waitFor()
    await page.getByRole('tab', { name: 'Run log' }).click()
    await page.getByRole('row', { name: /search.*3/ }).waitFor()
    await page.getByRole('tab', { name: 'Lineage' }).click()
    await page.getByRole('link', { name: /field-notes-7/ }).waitFor()
  })
})

describe('U1 acts', () => {
  it('R6 answers a question where it was asked, and the run goes on', async () => {
    const page = await house.open('/runs/research-9')
    await page.getByRole('article').getByText('Publish the summary?').waitFor()
    await page.getByText(/^paused .* waiting for: Publish the summary\?$/).waitFor()
    await page.getByRole('button', { name: 'Yes', exact: true }).click()
    await page.getByRole('article').filter({ hasText: 'completed' }).last().waitFor()
    expect(await page.getByRole('button', { name: 'Yes', exact: true }).count()).toBe(0)
  })

  it('R7 forks from a step, after it has said what is kept', async () => {
    const page = await house.open('/runs/triage-31?step=judge%40s4&act=fork')
    const sheet = page.getByRole('dialog', { name: 'Fork this run' })
    await sheet.getByText('clew fork triage-31 --at judge@s4').waitFor()
    await sheet.getByRole('button', { name: 'Fork', exact: true }).click()
    await page.getByText(/^fork of/).waitFor()
    await page.getByRole('tab', { name: 'Lineage' }).click()
    await page
      .getByRole('link', { name: /triage-31/ })
      .first()
      .waitFor()
  })

  it('D1 replays and reports side by side', async () => {
    const page = await house.open('/runs/triage-31')
    await page.getByRole('button', { name: 'Replay…' }).click()
    const sheet = page.getByRole('dialog', { name: 'Replay this run' })
    await sheet.getByRole('button', { name: 'Replay', exact: true }).click()
    await sheet.getByText(/^Identical: 14 steps/).waitFor()
  })

  it('R9 asks before it stops a run', async () => {
    const page = await house.open('/runs/crawler-live?act=stop')
    const sheet = page.getByRole('dialog', { name: 'Stop crawler?' })
    await sheet.getByText('clew stop crawler-live').waitFor()
    await sheet.getByRole('button', { name: 'Let it run' }).click()
    await sheet.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
  })

  it('U2 every id can stand in an address, and a link to it opens by itself', async () => {
    const runId = 'v1.2 /ähnlich?&#%.html'
    await house.ledger.record({
      eventType: 'system.workflow_started',
      correlationId: runId,
      payload: { agent: 'odd', input: 'an odd name' },
    })
    const page = await house.open('/runs?q=agent:odd')
    await page.getByRole('link', { name: /odd/ }).click()
    await page.getByText('an odd name').first().waitFor()
    await page.reload()
    await page.getByText('an odd name').first().waitFor()
    expect(decodeURIComponent(new URL(page.url()).pathname)).toBe(`/runs/${runId}`)
  })

  it('U2 an address that leads nowhere says so', async () => {
    const page = await house.open('/runs/nobody')
    await page.getByRole('alert').filter({ hasText: 'There is no run nobody' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'All runs' }).click()
    await page.waitForURL(/\/runs$/)
    const other = await house.open('/runs/field-notes-7?step=nothing')
    await other.getByRole('alert').filter({ hasText: 'This run has no step nothing' }).waitFor()
  })
})

interface Seen {
  readonly colours: readonly string[]
  readonly ground: number
}

/** Which colours the mini-map is drawn in, and how bright the page behind it is. */
const COLOURS = `(() => {
  const canvas = document.querySelector('canvas')
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  const colours = new Set()
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] === 255) colours.add([data[at], data[at + 1], data[at + 2]].join(' '))
  const probe = document.createElement('canvas').getContext('2d')
  probe.fillStyle = getComputedStyle(document.documentElement).backgroundColor
  probe.fillRect(0, 0, 1, 1)
  return { colours: [...colours], ground: probe.getImageData(0, 0, 1, 1).data[0] }
})()`
