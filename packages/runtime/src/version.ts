/** Recorded by each run (D7); the same as in package.json. */
export const CLEW_VERSION = '0.1.0'
