import type { Highlight } from '@clew/react'
import { createCssVariablesTheme, createHighlighterCore } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'

/** Highlighted languages, those that agents write most. Each is loaded with its first use. */
const LANGUAGES = {
  css: () => import('shiki/dist/langs/css.mjs'),
  html: () => import('shiki/dist/langs/html.mjs'),
  javascript: () => import('shiki/dist/langs/javascript.mjs'),
  json: () => import('shiki/dist/langs/json.mjs'),
  python: () => import('shiki/dist/langs/python.mjs'),
  shellscript: () => import('shiki/dist/langs/shellscript.mjs'),
  sql: () => import('shiki/dist/langs/sql.mjs'),
  typescript: () => import('shiki/dist/langs/typescript.mjs'),
  yaml: () => import('shiki/dist/langs/yaml.mjs'),
}
type Language = keyof typeof LANGUAGES

const ALSO: Readonly<Record<string, Language>> = {
  bash: 'shellscript',
  js: 'javascript',
  py: 'python',
  sh: 'shellscript',
  shell: 'shellscript',
  ts: 'typescript',
  yml: 'yaml',
}

/** Colours are variables of the theme, so they change with it. */
const theme = createCssVariablesTheme({ name: 'clew', variablePrefix: '--code-' })
const highlighter = createHighlighterCore({
  themes: [theme],
  langs: [],
  engine: createJavaScriptRegexEngine(),
})

const isKnown = (name: string): name is Language => Object.hasOwn(LANGUAGES, name)

export const highlightCode: Highlight = async (code, language) => {
  const name = ALSO[language.toLowerCase()] ?? language.toLowerCase()
  if (!isKnown(name)) return null
  const shiki = await highlighter
  await shiki.loadLanguage(LANGUAGES[name]())
  const { tokens } = shiki.codeToTokens(code, { lang: name, theme: 'clew' })
  return tokens.map((line) => line.map(({ content, color }) => ({ text: content, color: color ?? null })))
}
