import { micromark } from 'micromark'
import { expect, it } from 'vitest'
import { formatTranscriptMarkdown, openLedger } from 'clew'

/** The transcript of one message as a renderer shows it that trusts its text. */
async function rendered(content: string): Promise<string> {
  const ledger = await openLedger('memory:')
  await ledger.append([
    { eventType: 'execution.message', correlationId: 'run-1', payload: { role: 'user', content } },
  ])
  const markdown = formatTranscriptMarkdown(await ledger.transcript('run-1'))
  await ledger.close()
  return micromark(markdown, { allowDangerousHtml: true, allowDangerousProtocol: true })
}

it.each([
  '<script>alert(1)</script>',
  '\\<img src=https://evil.example/x.png onerror=alert(1)>',
  '<!-- x --> <?x?> </div> <![CDATA[x]]>',
  '<details open ontoggle=alert(1)>',
  '[here](javascript:alert(1))',
  '[here]( \n <JavaScript:alert(1)>)',
  '[here](java&Tab;script&colon;alert(1))',
  '[here](&#106;avascript:alert(1))',
  '[here](data:text/html;base64,PHNjcmlwdD4=)',
  '[here](vbscript:x) [here](//evil.example)',
  '[here\\](javascript:alert(1)) [here\\\\](javascript:alert(1))',
  '[here][a]\n\n[a]: javascript:alert(1)',
  '[here][a]\n\n[a]:\ndata:text/html,x',
  '[here][a]\n\n> [a]: javascript:alert(1)',
  '[here][a]\n\n[a]:\n> javascript:alert(1)',
  '<javascript:alert(1)> <data:text/html,x>',
  '![pixel](https://evil.example/pixel.png)',
  '\\![pixel](https://evil.example/pixel.png) \\\\![pixel](https://evil.example/pixel.png)',
  '![pixel][p]\n\n[p]: https://evil.example/pixel.png',
  '![pixel]\n\n[pixel]: https://evil.example/pixel.png',
  '[![pixel](https://evil.example/pixel.png)](https://good.example)',
  '```\n<b>\n```\n<script>alert(1)</script>',
  '    indented\n<iframe src="https://evil.example">',
])('V3 exported Markdown has nothing that a renderer runs or fetches: %j', async (text) => {
  const html = await rendered(text)
  const tags = html.match(/<[^>]*>/g) ?? []
  for (const tag of tags)
    expect(tag).toMatch(
      /^<(?:\/?(?:h1|h3|blockquote|p|em|strong|code|pre|a)|br \/|a href="https?:\/\/[^"]*"(?: title="[^"]*")?)>$/,
    )
})

it('V3 exported Markdown keeps links to the web, emphasis, code and comparisons', async () => {
  const html = await rendered('**a** [b](https://good.example/x?y=1) <br 1 < 2 `x[0]`')
  expect(html).toContain('<strong>a</strong> <a href="https://good.example/x?y=1">b</a>')
  expect(html).toContain('1 &lt; 2 <code>x[0]</code>')
})
