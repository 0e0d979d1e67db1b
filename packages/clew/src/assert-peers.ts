import nodeModule from 'node:module'
import { ClewError } from '@clew/ledger'

/** A framework that a subpath needs and does not install: this version or a newer one of the same major. */
export interface Peer {
  readonly name: string
  readonly from: string
}

// Not `import { createRequire }`: the banner that esbuild needs for CommonJS packages declares that name.
const require = nodeModule.createRequire(import.meta.url)

/** Installed version; undefined if it cannot be found, as in a bundle that has the framework inside. */
function installedVersion(name: string): string | undefined {
  try {
    return (require(`${name}/package.json`) as { version: string }).version
  } catch {
    return undefined
  }
}

const numbers = (version: string): number[] => version.split(/[.+-]/).slice(0, 3).map(Number)

function isWithin(version: string, from: string): boolean {
  const [major = 0, minor = 0, patch = 0] = numbers(version)
  const [least = 0, leastMinor = 0, leastPatch = 0] = numbers(from)
  return major === least && (minor > leastMinor || (minor === leastMinor && patch >= leastPatch))
}

/** Throws `bad_peer` for a framework that is missing, too old or too new. */
export function assertPeers(subpath: string, peers: readonly Peer[], versionOf = installedVersion): void {
  for (const { name, from } of peers) {
    const version = versionOf(name)
    const range = `>=${from} <${(numbers(from)[0] ?? 0) + 1}`
    if (version !== undefined && isWithin(version, from)) continue
    throw new ClewError(
      'bad_peer',
      version === undefined
        ? `${subpath} needs ${name} ${range}, which is not installed`
        : `${subpath} needs ${name} ${range}, and ${version} is installed`,
      `Install it with npm install ${name}@^${from}.`,
      { peer: name, range, version },
    )
  }
}

/**
 * Imports an adapter and compares the versions of its frameworks first. A framework that cannot be found is an error
 * only if the import fails: in a bundle it is part of the same file.
 */
export async function importWithPeers<Module>(
  subpath: string,
  peers: readonly Peer[],
  load: () => Promise<Module>,
  versionOf = installedVersion,
): Promise<Module> {
  assertPeers(
    subpath,
    peers.filter(({ name }) => versionOf(name) !== undefined),
    versionOf,
  )
  try {
    return await load()
  } catch (error) {
    assertPeers(subpath, peers, versionOf)
    throw error
  }
}
