import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { SignedHeads } from '@clew/ledger'
import { afterAll, beforeAll } from 'vitest'
import { openSqliteStore } from '../../packages/sqlite/src/index.ts'
import { describeManipulations } from './describe-manipulations.ts'
import { fillWorld, openWorld, portsOf, readWorld, signer } from './world.ts'

const folder = mkdtempSync(join(tmpdir(), 'clew-tamper-'))
const original = join(folder, 'original', 'clew.db')
let heads: SignedHeads
let answers: string
let copies = 0

beforeAll(async () => {
  mkdirSync(join(folder, 'original'))
  await fillWorld(async (daysAgo) => openSqliteStore(original, portsOf(daysAgo)))
  const ledger = openWorld(openSqliteStore(original, portsOf()))
  heads = await ledger.signHeads(signer)
  answers = await readWorld(ledger)
  await ledger.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeManipulations({
  dialect: { name: 'sqlite', bytes: (hex) => `x'${hex}'`, flag: (on) => (on ? '1' : '0') },
  heads: () => heads,
  answers: () => answers,
  async copy() {
    const own = join(folder, `copy-${++copies}`)
    cpSync(join(folder, 'original'), own, { recursive: true })
    const file = join(own, 'clew.db')
    const plain = new DatabaseSync(file, { enableForeignKeyConstraints: false })
    plain.prepare('ATTACH ? AS search').run(`${file}.search.db`)
    return {
      async execute(sql) {
        plain.exec('BEGIN')
        try {
          plain.exec(sql)
          plain.exec('COMMIT')
        } catch (error) {
          if (plain.isTransaction) plain.exec('ROLLBACK')
          throw error
        }
      },
      async dropTriggers() {
        for (const { name } of plain.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
          plain.exec(`DROP TRIGGER ${String(name)}`)
      },
      open: async () => openWorld(openSqliteStore(file, portsOf())),
      async dispose() {
        plain.close()
        rmSync(own, { recursive: true })
      },
    }
  },
})
