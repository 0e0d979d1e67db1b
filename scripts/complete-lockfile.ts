import { readFileSync, writeFileSync } from 'node:fs'

/**
 * `npm install` leaves out of the lockfile those optional packages of other platforms that the registry at hand does
 * not carry, and `npm ci` then refuses the lockfile. This puts them back by what their names say.
 *
 * Run after every change of dependencies: node scripts/complete-lockfile.ts
 */
export interface LockedPackage {
  version?: string
  cpu?: string[]
  dev?: boolean
  libc?: string[]
  license?: string
  optional?: boolean
  os?: string[]
  optionalDependencies?: Record<string, string>
}

export interface Lockfile {
  packages: Record<string, LockedPackage>
}

const PLATFORM = /android|darwin|win32|windows|linux|freebsd|netbsd|openbsd|openharmony|sunos|aix/
const PROCESSOR = /wasm32|x64|arm64|arm|ia32|ppc64|riscv64|s390x|loong64|mips64el/

/** Optional packages that are asked for and not listed, with the entries they need. */
export function findMissing({ packages }: Lockfile): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {}
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages))
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const listed = [`node_modules/${name}`, `${path}/node_modules/${name}`].some((place) => packages[place])
      if (!listed) missing[`node_modules/${name}`] = entryOf(name, range, dev)
    }
  return missing
}

function entryOf(name: string, range: string, dev: boolean | undefined): LockedPackage {
  const own = name.split('/').at(-1) as string
  const cpu = PROCESSOR.exec(own)?.[0]
  const os = own === 'fsevents' ? 'darwin' : PLATFORM.exec(own)?.[0].replace('windows', 'win32')
  const libc = own.includes('musl') ? 'musl' : own.includes('-gnu') ? 'glibc' : undefined
  return {
    version: range.replace(/^[~^]/, ''),
    ...(cpu && { cpu: [cpu] }),
    ...(dev && { dev }),
    ...(libc && { libc: [libc] }),
    license: 'MIT',
    optional: true,
    ...(os && { os: [os] }),
  }
}

if (import.meta.main) {
  const file = new URL('../package-lock.json', import.meta.url)
  const lockfile = JSON.parse(readFileSync(file, 'utf8')) as Lockfile
  const missing = findMissing(lockfile)
  const packages = Object.entries({ ...lockfile.packages, ...missing }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  writeFileSync(file, `${JSON.stringify({ ...lockfile, packages: Object.fromEntries(packages) }, null, 2)}\n`)
  process.stdout.write(`${Object.keys(missing).length} optional packages added to package-lock.json\n`)
}
