import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { makeFolder, removeFolder } from './harness.ts'
import { type Child, startChild } from './start-child.ts'

export interface Children {
  readonly file: string
  /** Starts another process; it is ended after the test. */
  start(...args: readonly (string | number)[]): Child
}

/** A new folder for each test of this file, and an end to every process that it started. */
export function withChildren(): Children {
  let folder = ''
  let started: Child[] = []
  beforeEach(() => {
    folder = makeFolder()
    started = []
  })
  afterEach(async () => {
    for (const child of started) await child.kill()
    removeFolder(folder)
  })
  return {
    get file() {
      return join(folder, 'clew.db')
    },
    start(...args) {
      const child = startChild(...args)
      started.push(child)
      return child
    },
  }
}
