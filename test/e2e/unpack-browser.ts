import chromium from '@sparticuz/chromium'

/** Once, before several files want it at the same time: one that starts what another still writes would fail. */
export async function setup(): Promise<void> {
  if (process.env['CLEW_CHROMIUM'] === undefined) await chromium.executablePath()
}
