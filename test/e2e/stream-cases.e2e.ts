import { AxeBuilder } from '@axe-core/playwright'
import type { JsonValue, Ledger } from '@clew/ledger'
import { createStream, postMessage, TraceEmitter } from 'clew'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'
import { watchedOf, watchRows } from './watch.ts'

const YOU = { type: 'user', id: 'you', name: 'You' } as const
const ADA = { type: 'persona', id: 'ada', name: 'Ada' } as const
const MARKUP = '<script>globalThis.hacked = true</script><img src=x onerror="globalThis.hacked = true">'

let house: House
let trace: TraceEmitter
beforeAll(async () => {
  house = await openHouse(async (ledger) => {
    trace = new TraceEmitter({ ledger })
    await prepare(ledger)
  })
})
afterAll(() => house.close())

async function prepare(ledger: Ledger): Promise<void> {
  await createStream(ledger, { streamId: 'general', title: 'general' })
  await say(ledger, 'general', 'q1', 'Which owls hunt by day?')
  await answer(ledger, 'general', 'session-1', 'q1', 'The **hawk owl**.')
  await createStream(ledger, { streamId: 'thread-1', parentStreamId: 'general', parentMessageId: 'q1' })
  await say(ledger, 'thread-1', 'r1', 'And by night?')
  const session = await trace.forSession({ streamId: 'thread-1', sessionId: 'session-2', persona: ADA })
  await (await session.startStep({ stepType: 'web_search' })).fail(new Error('The net is down'))
  await session.notifyFailed(new Error('The net is down'))
  await createStream(ledger, { streamId: 'hostile', title: MARKUP })
}
const say = (ledger: Ledger, streamId: string, messageId: string, content: string): Promise<string> =>
  postMessage(ledger, { streamId, messageId, content, author: YOU })

async function answer(
  ledger: Ledger,
  streamId: string,
  sessionId: string,
  asked: string,
  content: string,
  supersedes?: string,
): Promise<void> {
  const session = await trace.forSession({
    streamId,
    sessionId,
    persona: ADA,
    triggerMessageId: asked,
    supersedes,
  })
  const thinking = await session.startStep({ stepType: 'thinking' })
  await thinking.complete({
    content: 'It is in the books.',
    sources: [{ type: 'web', url: 'https://owls.example/a' }],
  })
  const sent = await session.startStep({ stepType: 'message_sent' })
  const messageId = await postMessage(ledger, {
    streamId,
    messageId: `${sessionId}-says`,
    content,
    author: ADA,
    sessionId,
    sources: SOURCES,
  })
  await sent.complete({ content, sources: SOURCES, messageId })
  await session.notifyCompleted()
}
const SOURCES = [
  { type: 'web', title: 'Owls at noon', url: 'https://owls.example/a' },
  { type: 'web', title: 'Hawk owls', url: 'https://owls.example/b' },
]
const messages = (page: Page) => page.getByRole('log', { name: 'Messages', exact: true })
const dialogOf = (page: Page) => page.getByRole('dialog')

describe('U2 streams are accessible', () => {
  it.each([
    ['/streams/general', 'hawk owl'],
    ['/streams/general?thread=thread-1', 'The net is down'],
    ['/streams/general?trace=session-1&highlight=session-1-says', 'It is in the books.'],
    ['/streams/general?trace=session-2', 'Web search'],
  ])('U2 axe finds nothing in %s, light or dark', async (path, text) => {
    const page = await house.open(path, { colorScheme: 'light' })
    await page.getByText(text).first().waitFor()
    const faults = async (axe: AxeBuilder): Promise<string[]> =>
      (await axe.analyze()).violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
      )
    expect(await faults(new AxeBuilder({ page }))).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(
      await faults(new AxeBuilder({ page }).withRules(['color-contrast', 'link-in-text-block'])),
    ).toEqual([])
    await page.context().close()
  })

  it('U2 asks, opens the trace, closes it and writes in the thread by keyboard alone', async () => {
    const page = await house.open('/streams/general')
    await messages(page).getByText('hawk owl').waitFor()
    await page.keyboard.press('i')
    await page.keyboard.type('And which by night?')
    await page.keyboard.press('Enter')
    const asked = messages(page).getByText('And which by night?')
    await asked.waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('k')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await dialogOf(page).getByText('It is in the books.').waitFor()
    expect(await dialogOf(page).locator('[aria-current="true"]').innerText()).toContain('hawk owl')
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await page.keyboard.press('j')
    await page.keyboard.press('m')
    await page.getByRole('menuitem', { name: 'Copy text' }).waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    const thread = page.getByRole('complementary', { name: 'Thread' })
    await thread.getByRole('heading', { name: 'Thread: And which by night?' }).waitFor()
    await page.keyboard.type('Most of them.')
    await page.keyboard.press('Enter')
    await thread.getByRole('article').getByText('Most of them.').waitFor()
    await messages(page).getByRole('button', { name: '1 reply' }).last().waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await thread.waitFor({ state: 'detached' })
  })

  it('U2 a finger that rests on a message opens its menu', async () => {
    const page = await house.open('/streams/general', {
      hasTouch: true,
      isMobile: true,
      viewport: { width: 390, height: 780 },
    })
    const first = messages(page).getByRole('article', { name: 'Message of You' }).first()
    await first.dispatchEvent('pointerdown', { pointerType: 'touch', clientX: 50, clientY: 50 })
    await page.getByRole('menuitem', { name: 'Reply in thread' }).waitFor()
  })
})

describe('T3 what is told, missed and told again', () => {
  it('T3 a server that dies in mid-stream and comes back: no gap, no repeat, never an empty page, in two tabs', async () => {
    const { ledger } = house
    await createStream(ledger, { streamId: 'live', title: 'live' })
    await say(ledger, 'live', 'l1', 'Is anybody there?')
    const tabs = await Promise.all([house.open('/streams/live'), house.open('/streams/live')])
    const [page] = tabs
    await Promise.all(tabs.map((tab) => messages(tab).getByText('Is anybody there?').waitFor()))
    const session = await trace.forSession({
      streamId: 'live',
      sessionId: 'live-1',
      persona: ADA,
      triggerMessageId: 'l1',
    })
    const step = await session.startStep({ stepType: 'thinking' })
    step.progress({ content: 'Let me look' })
    await Promise.all(
      tabs.map((tab) =>
        tab.getByRole('article', { name: 'Session of Ada, running' }).getByText('Let me').waitFor(),
      ),
    )
    await watchRows(page, '[role="log"] article')

    await house.killServer()
    await page.getByRole('status').filter({ hasText: 'Reconnecting' }).waitFor()
    step.progress({ content: 'Let me look around' })
    await step.complete({ content: 'I have looked.' })
    await postMessage(ledger, {
      streamId: 'live',
      messageId: 'l2',
      content: 'Here I am.',
      author: ADA,
      sessionId: 'live-1',
    })
    await session.notifyCompleted()
    await house.startServer()

    for (const tab of tabs) {
      await messages(tab).getByText('Here I am.').waitFor()
      await tab.getByRole('article', { name: 'Session of Ada, completed' }).waitFor()
      expect(await messages(tab).getByRole('article').count()).toBe(3)
      expect(await tab.getByRole('alert').count()).toBe(0)
    }
    expect(await watchedOf(page)).toMatchObject({ removed: [], lost: 0 })
    await say(ledger, 'live', 'l3', 'And live again.')
    await Promise.all(tabs.map((tab) => messages(tab).getByText('And live again.').waitFor()))
  })

  it('T3 a step whose end the socket tells before its start is one completed step, and never goes back', async () => {
    const send = async (event_type: string, payload: object): Promise<void> => {
      const answer = await fetch(`${house.url}/v1/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ event_type, correlation_id: 'order-1', payload }),
      })
      expect([answer.ok, await answer.text()]).toEqual([true, expect.any(String)])
    }
    await createStream(house.ledger, { streamId: 'order', title: 'order' })
    const session = { streamId: 'order', persona: ADA }
    await send('system.workflow_started', { agent: 'ada', threadId: 'order', session })
    const page = await house.open('/streams/order?trace=order-1')
    await dialogOf(page).getByRole('heading', { name: 'Ada' }).waitFor()
    await send('execution.step_completed', {
      stepId: 'look',
      name: 'look',
      kind: 'web_search',
      output: { content: 'Two pages were found.' },
    })
    const steps = dialogOf(page).getByRole('listitem')
    await steps.getByText('Two pages were found.').waitFor()
    await watchRows(page, 'dialog li')
    await send('execution.step_started', { stepId: 'look', name: 'look', kind: 'web_search' })
    await send('execution.step_started', { stepId: 'think', name: 'think', kind: 'thinking' })
    await dialogOf(page).getByRole('listitem', { name: 'Thinking, running' }).waitFor()
    expect(await steps.getByText('Two pages were found.').count()).toBe(1)
    const { labels, removed } = await watchedOf(page)
    expect(labels.filter((label) => label.startsWith('Web search'))).toEqual(['Web search, completed'])
    expect(removed).toEqual([])
    await page.reload()
    await dialogOf(page).getByRole('listitem', { name: 'Web search, completed' }).waitFor()
    expect(await steps.count()).toBe(2)
  })

  it('U1 an answer says how many sources it has, and leads to them', async () => {
    const page = await house.open('/streams/general')
    const said = messages(page).getByRole('article', { name: 'Message of Ada' }).first()
    await said.getByRole('button', { name: 'sources 2' }).click()
    const marked = dialogOf(page).locator('[aria-current="true"]')
    await marked.getByRole('link', { name: 'Hawk owls' }).waitFor()
    expect(await marked.getByRole('link', { name: 'Hawk owls' }).getAttribute('href')).toBe(
      'https://owls.example/b',
    )
    await page.waitForURL(/trace=session-1&highlight=session-1-says/)
  })

  it('U2 back and forward go through the trace; what was closed stays closed', async () => {
    const page = await house.open('/streams/general')
    await messages(page).getByRole('button', { name: 'trace', exact: true }).first().click()
    await dialogOf(page).getByText('It is in the books.').waitFor()
    await page.goBack()
    await dialogOf(page).waitFor({ state: 'detached' })
    await page.goForward()
    await dialogOf(page).getByText('It is in the books.').waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await page.goBack()
    await messages(page).getByText('hawk owl').waitFor()
    expect([await dialogOf(page).count(), page.url().includes('trace=')]).toEqual([0, false])
  })

  it('T1 another version takes the place of its card, and the dialog has both', async () => {
    const { ledger } = house
    await createStream(ledger, { streamId: 'versions', title: 'versions' })
    await say(ledger, 'versions', 'v1', 'Which one?')
    await answer(ledger, 'versions', 'version-1', 'v1', 'This one.')
    const page = await house.open('/streams/versions')
    const cards = messages(page).getByRole('article', { name: /^Session of Ada/ })
    await cards.waitFor()
    await answer(ledger, 'versions', 'version-2', 'v1', 'No, that one.', 'version-1')
    await messages(page).getByText('No, that one.').waitFor()
    expect(await cards.count()).toBe(1)
    await messages(page).getByText('This one.').waitFor({ state: 'detached' })
    await cards.getByRole('button', { name: 'show trace' }).click()
    const picker = dialogOf(page).getByRole('combobox', { name: 'Version' })
    expect(await picker.inputValue()).toBe('version-2')
    await picker.selectOption('version-1')
    await dialogOf(page).getByText('superseded').first().waitFor()
    await page.waitForURL(/trace=version-1/)
  })
})

describe('U2 what people and agents write', () => {
  it('U2 neither runs nor freezes, and is shown as it is', async () => {
    const { ledger } = house
    const post = (messageId: string, content: JsonValue): Promise<string> =>
      postMessage(ledger, {
        streamId: 'hostile',
        messageId,
        content,
        author: { ...ADA, name: MARKUP },
      })
    await post('h1', `${MARKUP}\n\n[click](javascript:globalThis.hacked=true)`)
    await post('h2', 'x'.repeat(5_000_000))
    await post('h3', JSON.parse(`${'{"in":'.repeat(480)}1${'}'.repeat(480)}`) as JsonValue)
    await post('h4', 'مرحبا بالعالم، البوم يصطاد ليلا')
    await post('h5', 'Z̷̢̛̤͇͚̩̬͉̈́̓̉̔̚ͅ'.repeat(60))
    const session = await trace.forSession({
      streamId: 'hostile',
      sessionId: 'hostile-1',
      persona: { id: 'h', name: MARKUP },
    })
    const step = await session.startStep({ stepType: MARKUP.slice(0, 40) })
    await step.complete({
      content: 'y'.repeat(5_000_000),
      sources: [{ type: 'web', title: MARKUP, url: 'javascript:globalThis.hacked=true' }],
    })
    await session.notifyCompleted()

    const page = await house.open('/streams/hostile')
    await messages(page).getByText('<script>globalThis.hacked').first().waitFor()
    await messages(page)
      .getByText(/more of 5\.0 MB/)
      .waitFor()
    const live = `${MARKUP} live`
    await post('h6', live)
    await messages(page).getByText('live', { exact: false }).last().waitFor()
    await page.goto(`${house.url}/streams/hostile?trace=hostile-1`)
    await dialogOf(page)
      .getByText(/more of 5\.0 MB/)
      .waitFor()
    expect(
      await dialogOf(page)
        .getByRole('link', { name: /script/ })
        .count(),
    ).toBe(0)
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
    await page.keyboard.press('Escape')
    await page.keyboard.press('i')
    await page.keyboard.type('still here')
    expect(await page.getByRole('textbox', { name: 'Write a message' }).inputValue()).toBe('still here')
  })
})
