import { readFileSync } from 'node:fs'
import { PACKAGE_FOLDER } from './own-files.ts'

export function readVersion(): string {
  const manifest = readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
