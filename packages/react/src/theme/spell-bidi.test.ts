import { createElement, type FunctionComponent, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { JsonTree } from '../json/json-tree.tsx'
import { LongText } from '../json/long-text.tsx'
import { previewValue } from '../json/json-rows.ts'
import { CodeBlock } from '../run/code-block.tsx'
import { MarkdownRendered } from '../run/markdown-rendered.tsx'
import { spellBidi } from './spell-bidi.ts'

const CONTROLS = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'
const text = `admin${CONTROLS}txt.exe`

function html<Props extends object>(component: FunctionComponent<Props>, props: Props): string {
  const element: ReactElement = createElement(component, props)
  return renderToStaticMarkup(element)
}

describe('U1 controls of writing direction in recorded text', () => {
  it('are spelled out, and letters that are written from right to left stay', () => {
    expect(spellBidi('a\u202eb')).toBe('a\\u202eb')
    expect(spellBidi('שלום עולם 👨‍👩‍👧')).toBe('שלום עולם 👨‍👩‍👧')
  })

  it.each([
    ['plain text', html(LongText, { text })],
    ['Markdown', html(MarkdownRendered, { text: `**${text}**` })],
    ['code', html(CodeBlock, { code: text, language: 'js' })],
    ['JSON', html(JsonTree, { value: { [text]: text, deep: { [text]: [text] } }, label: 'x' })],
    ['the preview of a value', previewValue({ [text]: text })],
  ])('are not in %s as it is shown', (_, shown) => {
    expect(shown).toContain('\\u202e')
    for (const control of CONTROLS) expect(shown).not.toContain(control)
  })
})
