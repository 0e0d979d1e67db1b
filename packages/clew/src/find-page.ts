import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the built page; null where it was not built. */
export function findPage(): string | null {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('@clew/web/package.json'))), 'dist')
  return existsSync(join(folder, 'index.html')) ? folder : null
}
