/** URL of this module. Bundlers to CommonJS leave `import.meta.url` empty. */
const here = import.meta.url as string | undefined
const isSource = here?.endsWith('.ts') ?? false

/** URL of a file of this package: sources and built files both lie one folder below its root. */
export const packageFile = (path: string): URL => new URL(`../${path}`, here ?? 'file:///')

/** Arguments with which Node starts a program of this package. In a clone it runs from source. */
export const PROGRAM_ARGS: readonly string[] = isSource ? ['--conditions=@clew/source'] : []

/** File of a program that is started by its path; `scripts/build.ts` lists them. */
export const programFile = (path: string): URL =>
  packageFile(isSource ? `src/${path}.ts` : `dist/${path.split('/').at(-1)}.js`)
