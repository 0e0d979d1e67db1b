import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { buildPage } from './build-page.ts'

/** `npm test`: every tier after the other, a failed one does not hide the next. */

const ROOT = resolve(import.meta.dirname, '..')
const BIN = join(ROOT, 'node_modules', '.bin')
const EXAMPLE_TIMEOUT_MS = 120_000

interface Tier {
  readonly about: string
  /** Runs it with its output on the terminal; true when it passed. */
  run(): boolean
}

interface Outcome {
  readonly name: string
  readonly passed: boolean
  readonly seconds: string
}

const TIERS: Readonly<Record<string, Tier>> = {
  format: { about: 'files are formatted', run: () => tool('biome', 'format', '.') },
  types: {
    about: 'types agree',
    run: () =>
      tool('tsc', '--noEmit', '-p', 'tsconfig.json') && tool('tsc', '--noEmit', '-p', 'tsconfig.page.json'),
  },
  lint: { about: 'lint rules, with types', run: () => tool('oxlint', '--type-aware', '--deny-warnings') },
  knip: { about: 'no unused files, exports or dependencies', run: () => tool('knip') },
  unit: { about: '*.test.ts', run: () => tool('vitest', 'run', '--project', 'unit') },
  int: {
    about: '*.int.test.ts: databases, processes; the runtime on PostgreSQL',
    run: () => tool('vitest', 'run', '--project', 'int', '--project', 'postgres'),
  },
  build: { about: 'what is published is built, and works where it is installed', run: build },
  // After `build`, which builds the page with the bound on its size; alone it builds the page if that is stale.
  e2e: {
    about: 'the page, built, in a browser',
    run: () => buildPage() && tool('vitest', 'run', '--project', 'e2e'),
  },
  examples: { about: 'examples/*.ts end with exit code 0', run: runExamples },
}

process.exitCode = check(process.argv.slice(2))

function check(args: readonly string[]): number {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`usage: node scripts/check.ts [tier …]   without a tier: all of them\n\n${listTiers()}`)
    return 0
  }
  const unknown = args.filter((name) => !Object.hasOwn(TIERS, name))
  if (unknown.length > 0) {
    console.error(`There is no tier named ${unknown.join(', ')}. Choose from:\n\n${listTiers()}`)
    return 2
  }
  const chosen = Object.entries(TIERS).filter(([name]) => args.length === 0 || args.includes(name))
  const outcomes = chosen.map(([name, tier]) => runTier(name, tier))
  report(outcomes)
  return outcomes.every((outcome) => outcome.passed) ? 0 : 1
}

function runTier(name: string, tier: Tier): Outcome {
  console.log(
    `\n━━ ${name}: ${tier.about} ${'━'.repeat(Math.max(0, 70 - name.length - tier.about.length))}\n`,
  )
  const startedMs = performance.now()
  const passed = tier.run()
  const seconds = `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
  console.log(`\n${passed ? 'passed' : 'FAILED'}: ${name}, ${seconds}`)
  return { name, passed, seconds }
}

function report(outcomes: readonly Outcome[]): void {
  console.log(`\n━━ summary ${'━'.repeat(63)}\n`)
  for (const { name, passed, seconds } of outcomes)
    console.log(`  ${passed ? 'passed' : 'FAILED'}  ${name.padEnd(10)}${seconds.padStart(9)}`)
  const passed = outcomes.filter((outcome) => outcome.passed).length
  console.log(`\n${passed} passed, ${outcomes.length - passed} failed`)
}

function listTiers(): string {
  return Object.entries(TIERS)
    .map(([name, tier]) => `  ${name.padEnd(10)}${tier.about}`)
    .join('\n')
}

/** A tool of node_modules/.bin, which is also first on its PATH, so that its `env node` is the Node we brought. */
function tool(name: string, ...args: readonly string[]): boolean {
  // On Windows the entries of .bin are scripts for its shell.
  return run(join(BIN, name), args, { shell: process.platform === 'win32' })
}

function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; shell?: boolean; timeout?: number } = {},
): boolean {
  const { status, signal, error } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}` },
    ...options,
  })
  if (error) console.error(`${command} could not run to its end: ${error.message}`)
  else if (signal) console.error(`${command} was ended by ${signal}`)
  return status === 0
}

/** Each in an empty folder, so that none leans on what another left behind. */
function runExamples(): boolean {
  const examples = globSync('examples/*.ts', { cwd: ROOT }).sort()
  if (examples.length === 0) {
    console.error('examples/ has no *.ts to run; this tier has nothing to prove. Add one.')
    return false
  }
  let allPassed = true
  for (const example of examples) {
    console.log(`· ${example}`)
    const cwd = mkdtempSync(join(tmpdir(), 'clew-example-'))
    const args = ['--conditions=@clew/source', join(ROOT, example)]
    const passed = run(process.execPath, args, { cwd, timeout: EXAMPLE_TIMEOUT_MS })
    rmSync(cwd, { recursive: true, force: true })
    if (!passed) console.error(`${example} failed; run it alone: node --conditions=@clew/source ${example}`)
    allPassed &&= passed
  }
  return allPassed
}

/** Building is not enough: what is not packed, or only works from source, shows where nothing else is at hand. */
function build(): boolean {
  return run(process.execPath, ['scripts/build.ts']) && tool('vitest', 'run', '--project', 'packed')
}
