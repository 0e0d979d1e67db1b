import { writeSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { openLedger } from 'clew'
import { SUBJECT } from './world.ts'

// `node erase-child.ts PATH N`: erases, and dies with SIGKILL right after its Nth call of SQLite; 0 for never.
const [, , path = '', last = '0'] = process.argv
let calls = 0
let isCounting = false

function mortal(prototype: object, names: readonly string[]): void {
  for (const name of names) {
    const real = Reflect.get(prototype, name) as (...given: unknown[]) => unknown
    Reflect.set(prototype, name, function (this: unknown, ...given: unknown[]) {
      const result = real.apply(this, given)
      if (isCounting && ++calls === Number(last)) process.kill(process.pid, 'SIGKILL')
      return result
    })
  }
}
mortal(StatementSync.prototype, ['run', 'get', 'all'])
mortal(DatabaseSync.prototype, ['exec'])

const ledger = await openLedger(`sqlite:${path}`)
isCounting = true
await ledger.erase({ subject: SUBJECT }, { by: 'child' })
isCounting = false
await ledger.close()
writeSync(1, `${calls}\n`)
