import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = new URL('../', import.meta.url)

/** The package as users get it: compiled, with nothing of the sources. Gives the address of a file of it. */
export function buildPackage(): (file: string) => string {
  const tsc = join(ROOT.pathname, 'node_modules/.bin/tsc')
  execFileSync(tsc, ['-b', 'tsconfig.build.json'], { cwd: ROOT.pathname, stdio: 'inherit' })
  return (file) => new URL(`packages/clew/dist/${file}`, ROOT).href
}

/** A program that runs one command of the built package and says on stderr how much memory it held at most, in KB. */
export const commandProgram = (main: string, args: readonly string[]): string => `
  const { main } = await import(${JSON.stringify(main)})
  process.on('exit', () => process.stderr.write('\\npeak memory ' + process.resourceUsage().maxRSS + '\\n'))
  process.exitCode = await main(${JSON.stringify(args)})`
