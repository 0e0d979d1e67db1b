import { readFileSync } from 'node:fs'
import { packageFile } from './own-files.ts'

export function readVersion(): string {
  const manifest = readFileSync(packageFile('package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
