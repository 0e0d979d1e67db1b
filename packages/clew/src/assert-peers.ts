import { createRequire } from 'node:module'
import { ClewError } from '@clew/ledger'

/** A framework that a subpath works with but does not bring along: from this version on, below the next major one. */
export interface Peer {
  readonly name: string
  readonly from: string
}

const require = createRequire(import.meta.url)

/** The version that an import from here gives; undefined when it is not installed. */
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

/** Says in one sentence what is missing, too old or too new, instead of failing somewhere inside. */
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
