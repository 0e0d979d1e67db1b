import { join } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '../..')

/** Where each version of React that `@clew/react` supports is installed. */
export const REACT = {
  18: join(import.meta.dirname, 'node_modules'),
  19: join(ROOT, 'node_modules'),
} as const

/** A program with the parts for React and one version of React, in one text. */
export async function bundleWithReact(
  version: keyof typeof REACT,
  program: string,
  platform: 'node' | 'browser',
): Promise<string> {
  const libraries = ['react', 'react-dom'].map((name) => [name, join(REACT[version], name)] as const)
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: ROOT, loader: 'tsx' },
    bundle: true,
    write: false,
    platform,
    format: platform === 'node' ? 'cjs' : 'iife',
    jsx: 'automatic',
    conditions: ['@clew/source'],
    alias: Object.fromEntries(libraries),
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}
