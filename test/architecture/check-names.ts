import { scanModule } from './scan-module.ts'
import type { SourceFile } from './source-files.ts'

const CODE = /^(packages\/[^/]+\/src|test|scripts|bench|examples)\/.*\.(tsx?|m?js)$/
/** Rooms without a subject, where everything ends up. */
const NO_ROOM = new Set(['utils', 'util', 'common', 'shared', 'helpers', 'helper'])
const KEBAB = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/

/** Names of folders and files, and what modules may export. */
export function checkNames(files: readonly SourceFile[]): string[] {
  const violations: string[] = []
  for (const { path, text } of files) {
    if (!CODE.test(path)) continue
    for (const part of path.split('/')) {
      const name = part.replace(/\..*$/, '')
      if (NO_ROOM.has(name)) violations.push(`${path}:1 is named '${name}'; name it after what it is about`)
      if (!KEBAB.test(part)) violations.push(`${path}:1 has the part '${part}'; write it in kebab-case`)
    }
    const { exports } = scanModule(text)
    if (exports.includes('default')) violations.push(`${path}:1 has a default export; export by name`)
    if (/\/index\.tsx?$/.test(path) && exports.includes('*'))
      violations.push(`${path}:1 has 'export *'; an index lists its surface name by name`)
  }
  return violations
}
