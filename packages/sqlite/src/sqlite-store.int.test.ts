import { describe, it } from 'vitest'
import { describeStore } from '@clew/ledger/conformance'
import { sqliteHarness } from '../test/harness.ts'

describeStore('SQLite', sqliteHarness, { describe, it })
