import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/**
 * Installs what would be published into the node_modules of a folder, as far as it is built. What it depends on, and
 * nothing else, is linked from here, so that no network is needed.
 */
export function installPacked(folder: string): void {
  const modules = join(folder, 'node_modules')
  const manifests = globSync('packages/*/package.json', { cwd: ROOT }).map(
    (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Manifest,
  )
  const packs = join(folder, 'packs')
  mkdirSync(packs, { recursive: true })
  execFileSync('npm', ['pack', '--workspaces', '--silent', '--pack-destination', packs], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  for (const { name, version } of manifests) {
    const target = join(modules, name)
    mkdirSync(target, { recursive: true })
    const pack = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
    execFileSync('tar', ['-xzf', join(packs, pack), '-C', target, '--strip-components=1'])
  }
  rmSync(packs, { recursive: true })
  const ours = new Set(manifests.map(({ name }) => name))
  const needed = manifests.flatMap(({ dependencies, peerDependencies }) =>
    Object.keys({ ...dependencies, ...peerDependencies }),
  )
  for (const name of new Set(needed).difference(ours)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction')
  }
}
