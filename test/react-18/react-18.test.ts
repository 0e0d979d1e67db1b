import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { bundleWithReact } from './bundle.ts'

const PROGRAM = `
import { version } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { ClewProvider, createClient, HighlightProvider, Markdown, preloadMarkdown, SessionCard, StatusMark,
  TraceProvider, TraceStep, useClient, useFollow, useTracePlace } from '@clew/react'

const step = { stepId: 's', attempt: 1, stepNumber: 1, stepType: 'thinking', name: 'look', parentStepId: null,
  status: 'completed', content: 'found owls', isContentLeftOut: false, sources: [], messageId: null, error: null,
  startedSeq: 1, endedSeq: 2, startedAt: '2026-01-01T00:00:00.000Z', completedAt: '2026-01-01T00:00:01.000Z',
  durationMs: 1000, progress: null }
const Uses = () => {
  const { url } = useClient()
  const state = useFollow({ path: '/events' }, () => {})
  const { sessionId } = useTracePlace()
  return <i>{url} {state} {sessionId}</i>
}
async function main() {
  await preloadMarkdown()
  const html = renderToStaticMarkup(
    <ClewProvider client={createClient({ url: 'http://server' })}>
      <HighlightProvider value={async () => null}>
        <TraceProvider place={{ sessionId: 'session' }}><Uses /></TraceProvider>
        <Markdown text={'**bold**\\n\\n\`\`\`js\\nlet a\\n\`\`\`'} />
        <TraceStep step={step} /><StatusMark status="completed" />
      </HighlightProvider>
    </ClewProvider>)
  console.log(version.split('.')[0] + ' ' + html)
}
void main()`

describe('the parts for React', () => {
  it.each([18, 19] as const)('render on a server with React %i', async (version) => {
    const child = execFile(process.execPath, ['-'])
    let said = ''
    child.stdout?.on('data', (text: string) => (said += text))
    child.stderr?.on('data', (text: string) => (said += text))
    child.stdin?.end(await bundleWithReact(version, PROGRAM, 'node'))
    await once(child, 'close')
    expect(said).toMatch(new RegExp(`^${version} `))
    expect(said).toContain('<i>http://server connecting session</i>')
    expect(said).toContain('<strong>bold</strong>')
    expect(said).toContain('found owls')
    expect(said).not.toMatch(/Warning:|Error/)
  })
})
