import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundleWithReact } from '../react-18/bundle.ts'
import { type House, openHouse } from './house.ts'

const said = (text: string) => ({
  eventType: 'execution.message' as const,
  correlationId: 'in-an-app',
  payload: { role: 'user', content: text },
})

let house: House
beforeAll(async () => {
  house = await openHouse(async (ledger) => {
    await ledger.append([said('first')])
  })
})
afterAll(() => house.close())

const APP = `
import { useState, version } from 'react'
import { createRoot } from 'react-dom/client'
import { ClewProvider, createClient, Markdown, TraceStepList, transcriptItems, useFollow, useRun } from '@clew/react'

const step = (n) => ({ stepId: 's' + n, attempt: 1, stepNumber: n, stepType: 'thinking', name: 'look', parentStepId: null,
  status: 'completed', content: 'step ' + n, isContentLeftOut: false, sources: [], messageId: null, error: null,
  startedSeq: n, endedSeq: n, startedAt: '2026-01-01T00:00:00.000Z', completedAt: '2026-01-01T00:00:01.000Z',
  durationMs: 1000, progress: null })

function App() {
  const [count, setCount] = useState(0)
  // Each call reads the count of its render: with that of an earlier one it would never come to two.
  useFollow({ path: '/v1/follow', after: null, by: 'position' }, (events) => setCount(count + events.length))
  const [first, setFirst] = useState(3)
  return <>
    <h1>React {version.split('.')[0]}: {count} events</h1>
    <Markdown text="**bold**" />
    <TraceStepList steps={[step(first)]} highlight="s1" earlierSteps={first - 1} onEarlier={() => setFirst(first - 1)} />
    <Transcript />
  </>
}
function Transcript() {
  const { entries } = useRun('in-an-app')
  return <p>{JSON.stringify(entries)}</p>
}
document.body.innerHTML = '<div></div>'
createRoot(document.body.firstChild).render(<ClewProvider client={createClient()}><App /></ClewProvider>)`

it.each([18, 19] as const)('the parts work in an app with React %i', async (version) => {
  const page = await house.open('/v1/runs')
  await page.evaluate(await bundleWithReact(version, APP, 'browser'))
  await page.getByText(`React ${version}: 0 events`).waitFor()
  await page.locator('strong', { hasText: 'bold' }).waitFor()
  // Earlier steps are asked for until the marked one is there.
  await page.getByText('step 1', { exact: true }).waitFor()
  await page.getByText('in-an-app').first().waitFor()
  await house.ledger.append([said('second')])
  await page.getByText(`React ${version}: 1 events`).waitFor()
  await house.ledger.append([said('third')])
  await page.getByText(`React ${version}: 2 events`).waitFor()
  expect(await page.locator('p', { hasText: 'third' }).count()).toBeGreaterThan(0)
})
