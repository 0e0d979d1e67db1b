/** Stands directly in src, as everything built stands directly in dist: the package is one folder above both. */
export const PACKAGE_FOLDER = new URL('../', import.meta.url)

const isSource = import.meta.url.endsWith('.ts')

/** What Node needs to start a program of this package: in a clone, the sources run as they are. */
export const PROGRAM_ARGS: readonly string[] = isSource ? ['--conditions=@clew/source'] : []

/** The file of a program that is started by its path; `scripts/build.ts` has the list of them. */
export const programFile = (path: string): URL =>
  new URL(isSource ? `${path}.ts` : `${path.split('/').at(-1)}.js`, import.meta.url)
