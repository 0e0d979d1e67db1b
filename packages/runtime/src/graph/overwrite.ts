import { isPlain } from './frozen-copy.ts'

const KEY = '$overwrite'

/**
 * A write that takes the place of a channel's value instead of being merged into it: what a sub-graph gives back of a
 * channel with its own merge rule began with the outer value, and merging it again would count that twice.
 */
export const overwrite = (value: unknown): Readonly<Record<string, unknown>> => ({ [KEY]: value })

export const isOverwrite = (write: unknown): write is Readonly<Record<typeof KEY, unknown>> =>
  isPlain(write) && Object.hasOwn(write, KEY) && Object.keys(write).length === 1

export const overwritten = (write: Readonly<Record<typeof KEY, unknown>>): unknown => write[KEY]
