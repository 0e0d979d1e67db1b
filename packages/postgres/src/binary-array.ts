import { type ColumnType, putArray, type Scalar, written } from './message-bytes.ts'

/** Arrays in the server's binary form: the driver by itself would print them as text. */
export const arrayOf = (type: ColumnType, items: readonly Scalar[]): Buffer =>
  written(() => putArray(type, items, (item) => item))

/** Of safe integers. */
export const int8s = (items: readonly (number | null)[]): Buffer => arrayOf('bigint', items)
export const texts = (items: readonly (string | null)[]): Buffer => arrayOf('text', items)
/** Bytes given as hex. */
export const hexes = (items: readonly (string | null)[]): Buffer => arrayOf('bytea', items)
