import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePackages } from '../scripts/build.ts'
import { installPacked } from '../scripts/install-packed.ts'

/** The package as users get it, built and installed in a folder of its own, and gone when `work` is done. */
export async function withBuilt<T>(work: (built: Built) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-built-'))
  try {
    await bundlePackages()
    installPacked(folder)
    return await work({ folder, run: (args) => runCommand(folder, args) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export interface Built {
  /** What is run here finds the package as `clew`. */
  readonly folder: string
  run(args: readonly string[]): CommandEnd
}

interface CommandEnd {
  readonly output: string
  readonly wallMs: number
  readonly peakMb: number
}

/**
 * Says at its end how much memory the process held at most, in KB. On Linux the kernel is asked for what is its own:
 * `maxRSS` begins there with what the process that started it held.
 */
const TELL_MEMORY = `process.on('exit', () => {
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs')
  const status = '/proc/self/status'
  const own = existsSync(status) ? /VmHWM:\\s*(\\d+)/.exec(readFileSync(status, 'utf8'))[1] : process.resourceUsage().maxRSS
  process.stderr.write('\\npeak memory ' + own)
})`

/** One command in a process of its own. What it compiles is kept in the folder, as it is at home for users. */
function runCommand(folder: string, args: readonly string[]): CommandEnd {
  const bin = join(folder, 'node_modules/clew/bin/clew.mjs')
  const telling = ['--import', `data:text/javascript,${encodeURIComponent(TELL_MEMORY)}`]
  const env = { ...process.env, HOME: folder, USERPROFILE: folder }
  const start = performance.now()
  const child = spawnSync(process.execPath, [...telling, bin, ...args], { encoding: 'utf8', env })
  const wallMs = performance.now() - start
  const peak = /peak memory (\d+)/.exec(child.stderr)?.[1]
  if (child.status !== 0 || peak === undefined)
    throw new Error(`clew ${args.join(' ')} failed: ${child.stderr.slice(0, 500)}`)
  return { output: child.stdout, wallMs, peakMb: Number(peak) / 1024 }
}
