import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeFolder, removeFolder } from '../test/harness.ts'
import { startChild } from '../test/start-child.ts'
import { createOwnerLocks } from './owner-lock.ts'

it('R9 an owner that begins to live while others sweep has its lock, and is dead to nobody', async () => {
  const folder = makeFolder()
  const file = join(folder, 'clew.db')
  const sweepers = [startChild('sweep', file), startChild('sweep', file)]
  try {
    for (const sweeper of sweepers) expect(await sweeper.next()).toBe('sweeping')
    const other = createOwnerLocks(file, 'other')
    for (let n = 0; n < 2000; n++) {
      const owner = `owner-${n}`
      const locks = createOwnerLocks(file, owner)
      expect(locks.hold()).toBe(true)
      expect(existsSync(join(`${file}-owners`, `${owner}.lock`)), owner).toBe(true)
      expect(other.isDead(owner)).toBe(false)
      locks.release(() => false)
    }
  } finally {
    for (const sweeper of sweepers) await sweeper.kill()
    removeFolder(folder)
  }
})
