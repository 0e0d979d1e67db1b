import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import type { App } from './create-app.ts'
import { matches } from './json-answer.ts'
import { pack } from './packed.ts'
import type { ServerParts } from './server-parts.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.txt': 'text/plain; charset=utf-8',
}

/** Paths that never show the page. */
const NOT_PAGES = /^\/(?:v1|api|mcp|socket\.io|assets|metrics|healthz|readyz|openapi\.json|docs)(?:\/|$)/

/** The page, where nothing else stands: its files, and its first one for every address that the page knows itself. */
export function mountPage(app: App, { page }: ServerParts): void {
  if (page === null) {
    app.fallback(async ({ path }) => (path === '/' ? html(WITHOUT_PAGE) : undefined))
    return
  }
  app.fallback(async (request) => {
    const file = fileOf(page, request.path)
    if (file !== undefined && file !== page && (await isFile(file))) return fileAnswer(file, request)
    // An id in an address may have a dot in it; what a browser opens as a page is none of the page's files.
    const isOpened = extname(request.path) === '' || (request.header('accept') ?? '').includes('text/html')
    const wantsPage = isOpened && !NOT_PAGES.test(request.path)
    return wantsPage ? fileAnswer(join(page, 'index.html'), request) : undefined
  })
}

interface PageRequest {
  readonly path: string
  header(name: string): string | undefined
}

/** The path of the file that is asked for; undefined when it would lie elsewhere. */
function fileOf(folder: string, path: string): string | undefined {
  let name: string
  try {
    name = decodeURIComponent(path)
  } catch {
    return undefined
  }
  if (name.includes('\0') || name.includes('\\')) return undefined
  const file = join(folder, name)
  return file === folder || file.startsWith(folder + sep) ? file : undefined
}

const isFile = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true
}

async function fileAnswer(file: string, { header }: PageRequest): Promise<Response> {
  const bytes = await readFile(file)
  const etag = `W/"${createHash('sha1').update(bytes).digest('base64url')}"`
  const type = TYPES[extname(file)] ?? 'application/octet-stream'
  const headers: Record<string, string> = {
    'content-type': type,
    etag,
    // Names with a hash in them never mean another content.
    'cache-control': /-[\w-]{8,}\.\w+$/.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    ...(type.startsWith('text/html') && pageHeaders(bytes.toString())),
  }
  if (matches(header('if-none-match') ?? null, etag)) return new Response(null, { status: 304, headers })
  const packable = /^text|json|svg|javascript|wasm/.test(type)
  const packed = await pack(bytes, packable ? (header('accept-encoding') ?? null) : null)
  return new Response(packed.bytes as Uint8Array<ArrayBuffer>, { headers: { ...headers, ...packed.headers } })
}

/** Only scripts that stand in the page itself or come from here run in it; what agents wrote is never one of them. */
function pageHeaders(text: string): Record<string, string> {
  const inline = [...text.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([^]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  return {
    'content-security-policy': [
      "default-src 'self'",
      `script-src 'self' 'wasm-unsafe-eval' ${inline.join(' ')}`.trimEnd(),
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data: blob:",
      "font-src 'self' data:",
      "connect-src 'self'",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join('; '),
  }
}

function html(text: string): Response {
  return new Response(text, {
    headers: { 'content-type': 'text/html; charset=utf-8', ...pageHeaders(text) },
  })
}

const WITHOUT_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Clew</title>
<style>body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color-scheme: light dark }</style>
<h1>Clew</h1>
<p>This server serves a ledger. Its page is not here: it was not built, or was switched off.</p>
<ul>
<li><a href="/v1/runs">/v1/runs</a> lists the runs</li>
<li><a href="/docs">/docs</a> has all routes, <a href="/openapi.json">/openapi.json</a> the same for programs</li>
<li><a href="/readyz">/readyz</a> says whether it works, <a href="/metrics">/metrics</a> how much</li>
</ul>
</html>
`
