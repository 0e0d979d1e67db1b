import { may, SCOPES } from './principal.ts'
import type { Route, RouteParameter } from './route.ts'

/** All routes as one page to read: no scripts, nothing from elsewhere. */
export function docsPage(routes: readonly Route[]): string {
  const tags = [...new Set(routes.map(({ tag }) => tag))]
  const parts = tags.map(
    (tag) =>
      `<h2>${escape(tag)}</h2>\n${routes
        .filter((route) => route.tag === tag)
        .map(section)
        .join('\n')}`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Clew: routes</title>
<style>${STYLE}</style>
<main>
<h1>Clew: routes</h1>
<p>The same for programs: <a href="/openapi.json">openapi.json</a>. Send a token as <code>authorization: Bearer TOKEN</code>; on the machine of the server none is needed unless it asks for one. Every error is <code>{ "error": { code, message, hint, fields } }</code>.</p>
<p>Scopes: ${SCOPES.map((scope) => `<code>${scope}</code>${brings(scope)}`).join(', ')}.</p>
${parts.join('\n')}
</main>
</html>
`
}

function brings(scope: (typeof SCOPES)[number]): string {
  const principal = { id: '', name: '', workspace: null, scopes: [scope] }
  const others = SCOPES.filter((other) => other !== scope && may(principal, other))
  return others.length === 0 ? '' : ` (brings ${others.join(', ')})`
}

function section(route: Route): string {
  const { id, method, path, summary, scope, body, answer } = route
  const needs = scope === null ? 'open to everybody' : `scope <code>${scope}</code>`
  const example = body?.['application/json']?.example
  return `<section id="${escape(id)}">
<h3><a href="#${escape(id)}"><b>${method.toUpperCase()}</b> ${escape(path)}</a></h3>
<p>${escape(summary)}. <small>${needs}</small></p>
${parameterTable(route.parameters ?? [])}
${example === undefined ? '' : `<pre>${escape(JSON.stringify(example, null, 2))}</pre>`}
${body ? details('Body', body) : ''}
${answer.content ? details('Answer', answer.content) : `<p>Answers: ${escape(answer.description)}</p>`}
</section>`
}

function parameterTable(parameters: readonly RouteParameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(
    ({ name, in: where, required, description }) =>
      `<tr><td><code>${escape(name)}</code></td><td>${where}${required ? ', needed' : ''}</td><td>${escape(description)}</td></tr>`,
  )
  return `<table>${rows.join('')}</table>`
}

function details(title: string, content: NonNullable<Route['body']>): string {
  const kinds = Object.entries(content).map(
    ([type, { schema }]) =>
      `<p><code>${escape(type)}</code></p><pre>${escape(JSON.stringify(schema, null, 2))}</pre>`,
  )
  return `<details><summary>${title}</summary>${kinds.join('')}</details>`
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escape = (text: string): string => text.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char)

const STYLE = `
:root { color-scheme: light dark }
body { font: 15px/1.55 system-ui, sans-serif; margin: 0 }
main { max-width: 56rem; margin: 2rem auto 6rem; padding: 0 1rem }
h2 { margin-top: 3rem; border-bottom: 1px solid #8886; text-transform: capitalize }
h3 { font: 600 15px/1.5 ui-monospace, monospace; margin: 2rem 0 0 }
h3 a { color: inherit; text-decoration: none }
h3 a:hover, h3 a:focus-visible { text-decoration: underline }
h3 b { display: inline-block; min-width: 3.5rem }
p { margin: .3rem 0 }
table { border-collapse: collapse; font-size: 14px }
td { padding: .15rem 1rem .15rem 0; vertical-align: top }
code, pre { font: 13px/1.5 ui-monospace, monospace }
pre { padding: .6rem .8rem; background: #8881; border-radius: 6px; overflow: auto; max-height: 24rem }
summary { cursor: pointer; padding: .2rem 0 }
`
