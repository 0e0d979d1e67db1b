import { existsSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ClewError, type Ledger } from '@clew/ledger'
import { type Agent, type CompiledGraph, fork, replay, retry } from '@clew/runtime'
import type { AgentSet, Runnable } from './run-control.ts'

/** Imports a module (a file, TypeScript too, or a package) and finds the agents and graphs that it exports. */
export async function loadAgents(modulePath: string, folder = process.cwd()): Promise<AgentSet> {
  const exported = await importModule(modulePath, folder)
  const found = [...new Set(Object.values(exported))].flatMap((value) => toRunnable(value) ?? [])
  if (found.length === 0)
    throw new ClewError(
      'bad_option',
      `The module ${modulePath} exports neither an agent nor a graph`,
      'Export what agent() or compile() gave you: export const research = agent(…).',
      { module: modulePath },
    )
  return agentSet(found, `the module ${modulePath}`)
}

export function agentSet(found: readonly Runnable[], where: string): AgentSet {
  const names = [...new Set(found.map(({ name }) => name))].toSorted()
  return {
    names,
    of({ runId, agent }) {
      const fitting = found.filter(({ name }) => name === agent)
      const [first] = fitting
      const fields = { runId, agent, module: where }
      if (!first)
        throw new ClewError(
          'bad_option',
          `Run ${runId} is one of ${agent ?? 'no agent'}, and ${where} has none of that name`,
          `It has ${names.join(', ')}. Nothing was changed.`,
          fields,
        )
      if (fitting.length > 1)
        throw new ClewError(
          'ambiguous',
          `There are ${fitting.length} agents named ${first.name} in ${where}`,
          'Give each its own name, or export only one of them. Nothing was changed.',
          fields,
        )
      return first
    },
  }
}

async function importModule(modulePath: string, folder: string): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(folder, modulePath)
  const isPath = /^\.{0,2}(?:[/\\]|$)/.test(modulePath) || isAbsolute(modulePath)
  const isFile = existsSync(path) && statSync(path).isFile()
  const refuse = (message: string, hint: string, cause?: unknown): never => {
    throw new ClewError('bad_option', message, `${hint} Nothing was changed.`, { module: modulePath }, cause)
  }
  if (isPath && !isFile)
    refuse(
      `The module ${modulePath} ${existsSync(path) ? 'is no file' : 'does not exist'}`,
      `Name a file, seen from ${folder}, or a package.`,
    )
  try {
    const imported: unknown = isFile
      ? await import(pathToFileURL(path).href)
      : await importPackage(modulePath, folder)
    return imported as Record<string, unknown>
  } catch (error) {
    const [said = ''] = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).split(
      '\n',
    )
    const isMissing =
      !isFile && error instanceof Error && 'code' in error && /NOT_FOUND|UNSUPPORTED/.test(String(error.code))
    return isMissing
      ? refuse(
          `There is no module ${modulePath}`,
          `Name a file, seen from ${folder}, or a package that is installed there.`,
          error,
        )
      : refuse(
          `The module ${modulePath} cannot be loaded: ${said}`,
          'Correct it; CLEW_DEBUG=1 shows where it fails.',
          error,
        )
  }
}

/** Looks for a package from the caller's folder, not from where Clew is installed. Bun has no hooks (1.4): there it takes files only. */
async function importPackage(specifier: string, folder: string): Promise<unknown> {
  const parentURL = pathToFileURL(join(folder, 'noop.js')).href
  const hooks = nodeModule.registerHooks({
    resolve: (wanted, context, next) =>
      next(
        wanted,
        wanted === specifier && context.parentURL === import.meta.url ? { ...context, parentURL } : context,
      ),
  })
  try {
    return await import(specifier)
  } finally {
    hooks.deregister()
  }
}

/** Known by their shape: the module may bring a Clew of its own. */
export function toRunnable(value: unknown): Runnable | undefined {
  if (typeof value !== 'object' || value === null || !('program' in value)) return undefined
  const { program } = value
  if (typeof program !== 'object' || program === null || !('name' in program)) return undefined
  if (typeof program.name !== 'string' || !('resume' in value)) return undefined
  const { name } = program
  if ('withCheckpointer' in value) {
    const graph = value as unknown as CompiledGraph
    const on = (ledger: Ledger): CompiledGraph => graph.withCheckpointer(ledger)
    return {
      name,
      kind: 'graph',
      resume: (ledger, runId, options) => on(ledger).resume({ runId }, options),
      async fork(ledger, runId, { retry: again, at, input, ...request }) {
        const place = { runId, ...request }
        return again === true
          ? on(ledger).retry(place)
          : on(ledger).fork({ ...place, at, input: input as Parameters<CompiledGraph['fork']>[0]['input'] })
      },
      replay: (ledger, runId, request) => replay(on(ledger), { ledger, runId, ...request }),
    }
  }
  const agent = value as unknown as Agent
  return {
    name,
    kind: 'function',
    resume: (ledger, runId, options) => agent.resume(ledger, runId, options),
    async fork(ledger, runId, { state, retry: again, at, input, ...request }) {
      const place = { ledger, runId, ...request }
      if (state === undefined)
        return again === true ? retry(agent, place) : fork(agent, { ...place, at, input })
      throw new ClewError(
        'bad_option',
        `The agent ${name} is a function and has no state that could be set`,
        'Give the fork another input, or fork from another step. Nothing was changed.',
        { runId, agent: name },
      )
    },
    replay: (ledger, runId, request) => replay(agent, { ledger, runId, ...request }),
  }
}
