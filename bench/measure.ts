import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One line of the report: our figure, what it stands beside, and the promise. */
export interface Figure {
  readonly name: string
  readonly ours: string
  /** What ours is compared with in the same run: a floor, a peer, or our own start. */
  readonly beside: string
  /** Higher is better for `least`, lower for `most`. */
  readonly ratio: number
  readonly least?: number
  readonly most?: number
  readonly unit?: string
}

export const isMet = ({ ratio, least, most }: Figure): boolean =>
  (least === undefined || ratio >= least) && (most === undefined || ratio <= most)

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] as number
}

/** Runs both sides in turn and gives the best seconds of each: what a noisy neighbour cannot make worse. */
export async function sideBySide(
  rounds: number,
  ours: (round: number) => Promise<number> | number,
  floor: (round: number) => Promise<number> | number,
): Promise<{ ours: number; floor: number }> {
  const times: { ours: number[]; floor: number[] } = { ours: [], floor: [] }
  for (let round = 0; round < rounds; round++) {
    times.floor.push(await floor(round))
    times.ours.push(await ours(round))
  }
  return { ours: Math.min(...times.ours), floor: Math.min(...times.floor) }
}

export async function seconds(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

export async function inTempFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'clew-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const fileBytes = (...paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)

const WORDS =
  'the agent looked at three pages about owls and wrote down what it had found in a short report for the editor who asked'.split(
    ' ',
  )

/** Ordinary prose of a given length, different for each seed. */
export function prose(length: number, seed: number): string {
  let text = ''
  for (let i = seed; text.length < length; i = (i * 31 + 17) % 9973) text += `${WORDS[i % WORDS.length]} `
  return text.slice(0, length)
}

export const rate = (events: number, time: number): string =>
  `${Math.round(events / time).toLocaleString('en')}/s`
export const micros = (time: number, events: number): string => `${((time * 1e6) / events).toFixed(1)} µs`
