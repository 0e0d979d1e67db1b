import type { ComponentType } from 'react'

/** A drawn icon, of any library: declarations must not name the one that is bundled. */
export type Icon = ComponentType<{
  readonly size?: number | string
  readonly strokeWidth?: number | string
  readonly 'aria-hidden'?: 'true'
}>
