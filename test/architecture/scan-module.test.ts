import { describe, expect, it } from 'vitest'
import { scanModule } from './scan-module.ts'
import { tokenize } from './tokens.ts'

const imports = (source: string): string[] =>
  scanModule(source).imports.map(
    ({ specifier, how, typeOnly }) => `${how}${typeOnly ? ' type' : ''} ${specifier ?? '?'}`,
  )
const exports = (source: string): readonly string[] => scanModule(source).exports

describe('imports found', () => {
  it.each([
    ["import 'a'", ['static a']],
    ["import a from 'a'", ['static a']],
    ['import a, { b } from "a"', ['static a']],
    ["import * as a from 'a'", ['static a']],
    ["import a, * as b from 'a'", ['static a']],
    ["import {\n  a,\n  b as c,\n} from\n 'a'", ['static a']],
    ["import { 'odd name' as a } from 'a'", ['static a']],
    ["import json from './a.json' with { type: 'json' }", ['static ./a.json']],
    ["import/* why */a/* not */from'a'", ['static a']],
    ["import type { A } from 'a'", ['static type a']],
    ["import type A from 'a'", ['static type a']],
    ["import type * as A from 'a'", ['static type a']],
    ["import { type A, type B as C } from 'a'", ['static type a']],
    ["import { type A, b } from 'a'", ['static a']],
    ["import { type } from 'a'", ['static a']],
    ["import { type as b } from 'a'", ['static a']],
    ["import type from 'a'", ['static a']],
    ["import type, { b } from 'a'", ['static a']],
    ["import {} from 'a'", ['static a']],
    ["export { a } from 'a'", ['re-export a']],
    ["export { type A } from 'a'", ['re-export type a']],
    ["export type { A } from 'a'", ['re-export type a']],
    ["export * from 'a'", ['re-export a']],
    ["export type * from 'a'", ['re-export type a']],
    ["export * as a from 'a'", ['re-export a']],
    ["await import('a')", ['dynamic a']],
    ['await import(`a`)', ['dynamic a']],
    ["import(/* @vite-ignore */ 'a').then(f)", ['dynamic a']],
    ["type A = import('a').A", ['dynamic a']],
    ['await import(name)', ['dynamic ?']],
    ['const load = () => import(`./${name}.ts`)', ['dynamic ?']],
    ["const a = require('a')", ['require a']],
    ["import a = require('a')", ['require a']],
    ['/// <reference types="node" />\nimport \'a\'', ['reference type node', 'static a']],
    ["import 'a';import'b'", ['static a', 'static b']],
  ])('%s', (source, expected) => {
    expect(imports(source)).toEqual(expected)
  })
})

describe('what only looks like an import', () => {
  it.each([
    ["// import 'a'"],
    ["/* import 'a'\n export * from 'b' */"],
    ['const text = "import \'a\'"'],
    ["const text = 'it\\'s import(\"a\")'"],
    ["const text = `import 'a' ${1}; import 'b'`"],
    ["const text = `${`import 'a'`} export * from 'b'`"],
    ["const pattern = /import 'a'/"],
    ["if (x) /import 'a'/.test(y)"],
    ['const pattern = /[/\'"]/; const text = "import(\'a\')"'],
    ['const here = import.meta.url'],
    ['interface Ledger { import(stream: Stream): Promise<void> }'],
    ['class Ledger { async import(stream: Stream) { } }'],
    ['const ledger = { read, import(stream) { } }'],
    ["ledger.import('a')"],
    ["object.require('a')"],
    ['export const from = 1'],
  ])('%s', (source) => {
    expect(imports(source)).toEqual([])
  })

  it.each([
    ["const half = a / 2; import 'a'; const quarter = a / 4"],
    ["const s = `${ { a: '}' }.a } import 'b'`; import 'a'"],
    ["const r = x.replace(/\\/\\*/g, '//'); import 'a'"],
    ["const r = [/[`]/]; import 'a'; const t = `b`"],
    ["// it's\nimport 'a'"],
    ['#!/usr/bin/env node\nimport "a"'],
  ])('and the real one beside it is still found: %s', (source) => {
    expect(imports(source)).toEqual(['static a'])
  })
})

describe('exports found', () => {
  it.each([
    ['export const a = 1', ['a']],
    ['export async function a() {}', ['a']],
    ['export function* a() {}', ['a']],
    ['export abstract class A {}', ['A']],
    ['export interface A {}', ['A']],
    ['export type A = string', ['A']],
    ['export declare const a: number', ['a']],
    ['export const { a, b: c, ...d } = x', ['a', 'c', 'd']],
    ['export { a, type B, c as d }', ['a', 'B', 'd']],
    ["export { a, b } from 'a'", ['a', 'b']],
    ["export type { A } from 'a'", ['A']],
    ["export * from 'a'", ['*']],
    ["export * as ns from 'a'", ['ns']],
    ['export default class {}', ['default']],
    ['export { a as default }', ['default']],
  ])('%s', (source, expected) => {
    expect(exports(source)).toEqual(expected)
  })
})

describe('lines', () => {
  it('counts them through comments, strings and templates', () => {
    const source = "/*\n*/ const a = `\n${1}\n`\n// x\nimport 'a'"
    expect(scanModule(source).imports[0]?.line).toBe(6)
  })

  it('ends on any text, also on text that is no program', () => {
    for (const source of [
      '`',
      '${',
      "'",
      '"',
      '/',
      '/*',
      '}',
      '})]',
      'import',
      'export',
      'import(',
      'import {',
    ])
      expect(tokenize(source).length).toBeLessThan(5)
    for (const source of [
      'import',
      'export',
      'import(',
      'import {',
      'export {',
      'import { type',
      'export const {',
    ])
      expect(imports(source).length).toBeLessThan(2)
  })
})
