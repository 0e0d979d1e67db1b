import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from 'clew'
import { afterAll } from 'vitest'
import { judge } from './judge.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-judge-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0
judge('ClewSaver on SQLite', () => openLedger(`sqlite:${join(folder, `${count++}.db`)}`))
