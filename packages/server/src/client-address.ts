/**
 * Address of the client of a request. Behind one trusted proxy it is the last entry of `x-forwarded-for`, which that proxy
 * wrote; entries before it come from the client and may be forged.
 */
export function clientAddress(
  caller: { header(name: string): string | undefined; readonly address?: string | undefined },
  trustProxy: boolean,
): string {
  const forwarded = trustProxy ? caller.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded || caller.address || ''
}
