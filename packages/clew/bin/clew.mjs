#!/usr/bin/env node
// Every Node since 12 must be able to parse this file, so that an old one ends with a sentence, not a stack trace:
// no static imports, no top-level await, no newer syntax.

const NEEDED = 24
const found = process.versions.node

if (Number(found.split('.')[0]) < NEEDED) {
  process.stderr.write(
    `clew needs Node ${NEEDED} or newer and was started by Node ${found} (${process.execPath}): ` +
      `install Node ${NEEDED}, or start it with \`npx clew\` in a project that brings its own.\n`,
  )
  process.exitCode = 2
} else {
  start().catch(function (error) {
    console.error(error)
    process.exitCode = 1
  })
}

async function start() {
  const { existsSync, readFileSync } = await import('node:fs')
  const args = process.argv.slice(2)
  // Asked for by scripts, and answered without loading anything.
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    process.stdout.write(`${JSON.parse(manifest).version}\n`)
    return
  }
  const has = (path) => existsSync(new URL(path, import.meta.url))

  // Only a clone has a tsconfig, and it runs from source.
  const built = has('../dist/main.js')
  const fromSource = has('../src/cli/main.ts') && (!built || has('../tsconfig.json'))
  if (!fromSource && !built) {
    process.stderr.write(
      'clew has no program to run: packages/clew has neither src nor dist; reinstall it.\n',
    )
    process.exitCode = 1
    return
  }
  if (fromSource) await resolveToSource()
  else await keepCompiled()
  const { main } = await import(fromSource ? '../src/cli/main.ts' : '../dist/main.js')
  process.exitCode = await main(args)
}

/** Lets the packages of this clone find each other's `src`, as `--conditions=@clew/source` would. */
async function resolveToSource() {
  const { registerHooks } = await import('node:module')
  registerHooks({
    resolve(specifier, context, nextResolve) {
      return nextResolve(specifier, {
        ...context,
        conditions: [...context.conditions, '@clew/source'],
      })
    },
  })
}

/** Keeps compiled code for the next start, in a folder that no other user can write to. */
async function keepCompiled() {
  const home = process.env.HOME || process.env.USERPROFILE
  if (!home) return
  const { enableCompileCache } = await import('node:module')
  // Deno has no compile cache of this kind.
  if (enableCompileCache) enableCompileCache(`${home}/.clew/compiled`)
}
