import { execFileSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
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

const BLOCK = 4096

/** What npm would put into a project that asks for `clew`: how many packages, and the space that their files take on disk. */
export function weighPacked(folder: string): { readonly packages: number; readonly bytes: number } {
  const found = new Set([join(folder, 'node_modules/clew')])
  let bytes = 0
  for (const place of found) {
    const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = manifest
    const peers = Object.keys(peerDependencies).filter(
      (name) => peerDependenciesMeta?.[name]?.optional !== true,
    )
    for (const name of Object.keys(dependencies ?? {}).concat(peers))
      found.add(findPackage(name, place, manifest.name))
    for (const name of Object.keys(optionalDependencies ?? {})) {
      const optional = lookUp(name, place)
      if (optional !== undefined) found.add(optional)
    }
    for (const file of globSync('**/*', { cwd: place, exclude: ['node_modules'] }))
      bytes += Math.ceil(statSync(join(place, file)).size / BLOCK) * BLOCK
  }
  return { packages: found.size, bytes }
}

function findPackage(name: string, from: string, asking: string): string {
  const found = lookUp(name, from)
  if (found === undefined) throw new Error(`${name}, which ${asking} needs, is not installed`)
  return found
}

/** The folder of a package, as Node looks for it. */
function lookUp(name: string, from: string): string | undefined {
  const place = join(from, 'node_modules', name)
  if (existsSync(place)) return realpathSync(place)
  return dirname(from) === from ? undefined : lookUp(name, dirname(from))
}
