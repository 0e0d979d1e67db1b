import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../architecture/source-files.ts'
import type { Snippet } from './snippets.ts'

/** Inside the repository, so that `import 'clew'` resolves; git ignores it. */
const FOLDER = join(ROOT, 'test', '.tmp-docs')
const TIMEOUT_MS = 60_000

export interface Ran {
  readonly exitCode: number | null
  readonly output: string
}

/** Runs a snippet as a reader would: from a file of its own, in an empty folder. */
export async function runSnippet({ where, text }: Snippet): Promise<Ran> {
  mkdirSync(FOLDER, { recursive: true })
  const file = join(FOLDER, `${where.replaceAll(/[^\w.-]/g, '-')}.ts`)
  const cwd = mkdtempSync(join(tmpdir(), 'clew-docs-'))
  writeFileSync(file, text)
  try {
    return await runNode([file], cwd)
  } finally {
    rmSync(file, { force: true })
    rmSync(cwd, { recursive: true, force: true })
  }
}

function runNode(args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, HOME: cwd, NODE_OPTIONS: '' },
      timeout: TIMEOUT_MS,
    })
    let output = ''
    const add = (chunk: Buffer): void => {
      output += chunk.toString('utf8')
    }
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    child.on('error', reject)
    child.on('close', (exitCode, signal) => {
      resolve({ exitCode, output: signal ? `${output}\nended by ${signal}` : output })
    })
  })
}
