import { findPlaceholders, type JsonValue } from '@clew/ledger'

/** Where in a recorded value redaction left a placeholder; undefined when it is whole. */
export const placeholderIn = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : findPlaceholders(value as JsonValue)[0]
